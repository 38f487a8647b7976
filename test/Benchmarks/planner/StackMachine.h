//===- StackMachine.h - what par's ops would take as another software runs them ----------------*- C++
//-*-===//
#ifndef PAR_BENCHMARKS_PLANNER_STACKMACHINE_H
#define PAR_BENCHMARKS_PLANNER_STACKMACHINE_H

#include "Stack.h"
#include "par/Cost/Machine.h"

namespace mlir::par {

/// What a layer of a model has of work on one rank.
struct LayerWork {
  std::vector<int64_t> layersOf; ///< layers by chunk
  ProductShape last;             ///< its last product
  std::optional<Exchange> sum;   ///< of that product's result
  double parameters = 0;         ///< of a layer on one rank
  double kernelBytes = 1;        ///< what its kernels read and write, of what par's do
  double logits = 0;             ///< of a micro-batch on one rank, behind the last layer
  bool isRunAgain = false;
  bool splitsSequence = false; ///< sequence parallelism
};

/// A cluster as a stack uses it.
class StackMachine : public ClusterMachine {
public:
  /// `attentionAgain`: backward passes begin with attention's forward.
  StackMachine(const Cluster &cluster, MeshAttr mesh, const Stack &stack, bool attentionAgain,
               LayerWork layer)
      : ClusterMachine(cluster, mesh), mesh(mesh), device(cluster.device), stack(stack),
        attentionAgain(attentionAgain), layer(std::move(layer)) {}

  double getSeconds(const Exchange &exchange) const override;
  double getSeconds(const Computation &work) const override;
  double getExtraSeconds(const Action &action) const override;
  bool exchangeBlocks(const Exchange &exchange) const override;
  bool transfersBlock() const override { return stack.blockingTransfers; }
  double getHostTime() const override { return std::max(stack.hostTime, device.hostTime); }

private:
  double getAttention(AttentionShape shape) const;
  bool isOfData(const Exchange &exchange) const;
  double getRepeatedSeconds() const;
  double getLaunchSeconds(bool isForward) const;
  double getSplitSeconds(Exchange message) const;

  MeshAttr mesh;
  const DeviceModel &device;
  const Stack &stack;
  bool attentionAgain;
  const LayerWork layer;
};

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_STACKMACHINE_H
