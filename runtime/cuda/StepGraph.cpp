#include "cuda/StepGraph.h"

namespace par::cuda {

StepGraphs::~StepGraphs() {
  for (auto &entry : steps)
    if (entry.second.exec)
      driver.cuGraphExecDestroy(entry.second.exec);
}

size_t StepGraphs::nodes(device::Schedule schedule) const {
  auto found = steps.find(schedule);
  return found == steps.end() ? 0 : found->second.nodes;
}

io::Status StepGraphs::instantiate(Step &step, CUgraph graph, CudaQueue &queue) {
  PAR_CUDA(driver, cuGraphGetNodes, graph, nullptr, &step.nodes);
  PAR_CUDA(driver, cuGraphInstantiateWithFlags, &step.exec, graph, 0);
  PAR_CUDA(driver, cuGraphUpload, step.exec, queue.stream());
  return {};
}

/// Calls of this thread alone may not allocate or wait meanwhile: other ranks do as they like.
io::Status StepGraphs::record(Step &step, device::Schedule schedule, device::Context &context,
                              CudaQueue &queue) {
  PAR_CUDA(driver, cuStreamBeginCapture_v2, queue.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  schedule(&context);
  CUgraph graph = nullptr;
  PAR_CUDA(driver, cuStreamEndCapture, queue.stream(), &graph);
  io::Status status = instantiate(step, graph, queue);
  driver.cuGraphDestroy(graph);
  return status;
}

io::Status StepGraphs::run(device::Schedule schedule, device::Context &context, CudaQueue &queue,
                           const std::function<void()> &recording) {
  Step &step = steps[schedule];
  if (++step.runs == 1) {
    schedule(&context);
    return {};
  }
  if (!step.exec) {
    recording();
    io::Status status = record(step, schedule, context, queue);
    recording();
    PAR_TRY(status);
  }
  PAR_CUDA(driver, cuGraphLaunch, step.exec, queue.stream());
  return {};
}

} // namespace par::cuda
