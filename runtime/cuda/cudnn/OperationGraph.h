/// A graph of operations on tensors of four dimensions, as cuDNN's engines know them by their pattern.
#ifndef PAR_CUDA_CUDNN_OPERATIONGRAPH_H
#define PAR_CUDA_CUDNN_OPERATIONGRAPH_H

#include "cuda/cudnn/Descriptor.h"

#include <array>

namespace par::cuda {

using Four = std::array<int64_t, 4>;

/// Elements of a row-major tensor.
Four packed(const Four &sizes);

/// Strides are in elements.
struct GraphTensor {
  int type; ///< cudnnDataType_t
  Four sizes, strides;
};

/// Writes a graph. Tensors are numbers, from 1 on; operations return that of their result. The first call
/// that fails is what `finish` says; those behind it do nothing.
class OperationGraph {
public:
  explicit OperationGraph(const Cudnn &cudnn) : cudnn(cudnn) {}

  /// In the device's memory, for every execution at an address of its own, a multiple of 16.
  int64_t memory(const GraphTensor &tensor);
  /// A number of the host, for every execution anew.
  int64_t scalar();
  /// Between two operations, in no memory.
  int64_t between(const GraphTensor &tensor);

  /// result = mode(x, b), or mode(x) without b; `select`: what is true where x is to be taken, else b.
  void pointwise(int mode, int64_t result, int64_t x, int64_t b = 0, int64_t select = 0);
  /// The number of each element along a dimension of x.
  void index(int axis, int64_t result, int64_t x);
  /// result = a · b for each of the first two dimensions, of which b may have fewer.
  void multiply(int64_t result, int64_t a, int64_t b);
  /// Along the dimensions of which the result has fewer.
  void reduce(int operation, int64_t result, int64_t x);
  /// The same elements in another order.
  void reshape(int64_t result, int64_t x);

  io::Status finish();
  const Descriptor &get() const { return graph; }
  const GraphTensor &of(int64_t number) const { return tensors[size_t(number) - 1].what; }

private:
  enum class Place { memory, host, nowhere };
  struct Tensor {
    GraphTensor what;
    OwnedDescriptor descriptor;
  };
  using Operand = std::pair<CudnnName, int64_t>;

  int64_t add(const GraphTensor &tensor, Place place);
  io::Status describe(const GraphTensor &tensor, int64_t number, Place place, Descriptor &descriptor) const;
  io::Status makePointwise(int mode, int axis, int type, OwnedDescriptor &how);
  io::Status makeOf(CudnnKind kind, CudnnName typeName, OwnedDescriptor &how);
  io::Status addOperation(CudnnKind kind, CudnnName howName, const Descriptor *how,
                          const std::vector<Operand> &operands);
  void addPointwise(int mode, int axis, int64_t result, int64_t x, int64_t b, int64_t select);
  /// Keeps the first error.
  void note(const io::Status &made) {
    if (status.ok())
      status = made;
  }

  const Cudnn &cudnn;
  io::Status status;
  std::vector<Tensor> tensors;
  std::vector<OwnedDescriptor> hows, operations;
  Descriptor graph{cudnn};
};

} // namespace par::cuda
#endif
