/// Steps as graphs: what a program enqueues is recorded once and launched as a whole ever after.
#ifndef PAR_CUDA_STEPGRAPH_H
#define PAR_CUDA_STEPGRAPH_H

#include "cuda/CudaQueue.h"
#include "device/Device.h"

#include <functional>
#include <map>

namespace par::cuda {

/// A schedule runs as it is the first time, since libraries take memory and load kernels then, and is
/// recorded the second time.
class StepGraphs {
public:
  explicit StepGraphs(const Driver &driver) : driver(driver) {}
  ~StepGraphs();

  /// Enqueues one step; `recording` is called before the queues' events are those of a recording, and behind
  /// it.
  io::Status run(device::Schedule schedule, device::Context &context, CudaQueue &queue,
                 const std::function<void()> &recording);
  /// Nodes of a schedule's graph; 0: it has none.
  size_t nodes(device::Schedule schedule) const;

private:
  struct Step {
    int runs = 0;
    CUgraphExec exec = nullptr;
    size_t nodes = 0;
  };
  io::Status record(Step &step, device::Schedule schedule, device::Context &context, CudaQueue &queue);
  io::Status instantiate(Step &step, CUgraph graph, CudaQueue &queue);

  const Driver &driver;
  std::map<device::Schedule, Step> steps;
};

} // namespace par::cuda
#endif
