/// Attention and its gradients as graphs of operations: the patterns that cuDNN's attention engines know.
#ifndef PAR_CUDA_CUDNN_ATTENTIONGRAPH_H
#define PAR_CUDA_CUDNN_ATTENTIONGRAPH_H

#include "cuda/CudaWork.h"
#include "cuda/cudnn/OperationGraph.h"

namespace par::cuda {

class AttentionGraph {
public:
  AttentionGraph(const Cudnn &cudnn, const AttentionWork &work) : work(work), graph(cudnn) {}

  io::Status write();
  const OperationGraph &get() const { return graph; }

  /// A tensor in memory: `offset` bytes from the beginning of a buffer of the call, -1 being the workspace.
  struct Place {
    int64_t tensor;
    int buffer;
    int64_t offset;
  };
  const std::vector<Place> &places() const { return all; }
  struct Scalar {
    int64_t tensor;
    float value;
  };
  const std::vector<Scalar> &scalars() const { return values; }
  /// Bytes that tensors of the graph have of the workspace; what a plan needs is behind them.
  int64_t sharedBytes() const { return taken; }
  /// Bytes of the workspace that are left for a plan. Error where not even the graph's tensors fit.
  io::Status findRoom(int64_t &most) const;

private:
  int64_t heads() const { return work.kvHeads * work.group; }
  Four ofScores() const { return {work.batch, heads(), work.qRows, work.kRows}; }
  Four ofRows() const { return {work.batch, heads(), work.qRows, 1}; }

  int64_t inMemory(const GraphTensor &tensor, int buffer, int64_t offset = 0);
  int64_t inWorkspace(const GraphTensor &tensor);
  int64_t queries(const AttentionRows &rows);
  int64_t keys(const AttentionRows &rows);
  /// Rows are columns.
  int64_t transposedKeys(const AttentionRows &rows);
  int64_t statistics();
  int64_t number(float value);
  int64_t wide(const Four &sizes) { return graph.between({CUDNN_DATA_FLOAT, sizes, packed(sizes)}); }
  int64_t compute(int mode, const Four &sizes, int64_t x, int64_t b = 0);
  int64_t transpose(int64_t scores);
  /// scale · q·kᵀ
  int64_t scaledScores(int64_t q, int64_t k, int64_t scale);
  int64_t index(int axis, int64_t scores);
  int64_t select(int64_t scores, int mode, int64_t a, int64_t b);
  int64_t mask(int64_t scores);

  void writeForward();
  void writeBackward();
  int64_t rowSums(int64_t dout, int64_t out);
  /// a · b for the keys, with sums over the heads of a group.
  void writeKeyGradient(const AttentionRows &rows, int64_t a, int64_t b);

  const AttentionWork &work;
  OperationGraph graph;
  std::vector<Place> all;
  std::vector<Scalar> values;
  int64_t taken = 0;
};

} // namespace par::cuda
#endif
