/// How cuDNN computes a graph of operations on a device.
#ifndef PAR_CUDA_CUDNN_EXECUTIONPLAN_H
#define PAR_CUDA_CUDNN_EXECUTIONPLAN_H

#include "cuda/cudnn/OperationGraph.h"

namespace par::cuda {

/// A device as plans know it: that of a handle, or one that need not be there, as JSON.
io::Status describeDevice(cudnnHandle_t handle, Descriptor &device);
io::Status describeDevice(const std::string &json, Descriptor &device);

/// What an execution gives a tensor of the graph: an address of the device, or of a number on the host.
struct TensorAddress {
  int64_t tensor;
  void *address;
};

class ExecutionPlan {
public:
  explicit ExecutionPlan(const Cudnn &cudnn) : cudnn(cudnn) {}

  /// The first way that cuDNN proposes and that needs no more than `most` bytes of workspace. Error, with the
  /// reason, where there is none.
  io::Status build(const OperationGraph &graph, const Descriptor &device, int64_t most);
  /// The plan as cuDNN writes it down: JSON, with the compiled kernel, some 100 KiB.
  io::Status store(std::string &text) const;
  /// One that was stored by a cuDNN of this version for such a device. Error where cuDNN does not take it, or
  /// it needs more memory.
  io::Status restore(const std::string &text, const Descriptor &device, int64_t most);
  int64_t workspaceBytes() const { return bytes; }
  /// Enqueues it on the handle's stream.
  io::Status execute(cudnnHandle_t handle, const std::vector<TensorAddress> &tensors, void *workspace) const;

private:
  io::Status propose(const OperationGraph &graph, const Descriptor &device);
  io::Status tryWay(const Descriptor &way);
  io::Status readWorkspace();
  io::Status checkWorkspace(int64_t most) const;

  const Cudnn &cudnn;
  OwnedDescriptor heuristic;
  std::vector<OwnedDescriptor> ways; ///< the one that cuDNN thinks best first
  OwnedDescriptor plan;
  int64_t bytes = 0;
};

} // namespace par::cuda
#endif
