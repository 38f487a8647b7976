/// The attention of a program, by cuDNN.
#ifndef PAR_CUDA_CUDNN_ATTENTIONS_H
#define PAR_CUDA_CUDNN_ATTENTIONS_H

#include "cuda/cudnn/AttentionGraph.h"
#include "cuda/cudnn/ExecutionPlan.h"
#include "cuda/cudnn/StoredPlans.h"

#include <memory>
#include <vector>

namespace par::cuda {

class Attentions {
public:
  ~Attentions();
  /// Opens the library and plans all of them, for the device of the thread's context, which is `here` but for
  /// the version. Error, with the reason, where it is not there, does not take one, or needs more memory than
  /// the package plans. `list` outlives this. `stored`: what the package brings along, or null; it is taken
  /// where it is for this very library and device.
  io::Status load(const std::vector<AttentionWork> &list, PlanBasis here, const StoredPlans *stored);
  /// Buffers are those of the entry. Enqueued on a stream.
  io::Status attend(int32_t number, void *const *buffers, CUstream stream);
  /// "cuDNN 9.19.0"
  std::string version() const { return "cuDNN " + cudnn->version(); }
  /// Where its plans are from, where the package brings some: "its plans are the package's", or why not.
  const std::string &origin() const { return from; }

private:
  struct Planned {
    Planned(const Cudnn &cudnn, const AttentionWork &work) : work(work), graph(cudnn, work), plan(cudnn) {}
    const AttentionWork &work;
    AttentionGraph graph;
    ExecutionPlan plan;
  };
  io::Status plan(Planned &one, const Descriptor &device) const;
  io::Status restore(const StoredPlans &stored, const PlanBasis &here, const Descriptor &device);
  io::Status enqueue(const Planned &one, void *const *buffers, CUstream stream);

  const Cudnn *cudnn = nullptr;
  cudnnHandle_t handle = nullptr;
  std::vector<std::unique_ptr<Planned>> all;
  std::string from;
  // Of a call; kept here to allocate little in a step.
  std::vector<TensorAddress> addresses;
};

} // namespace par::cuda
#endif
