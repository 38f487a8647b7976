#include "standin/State.h"

#include "standin/Kernels.h"

namespace par::standin {

using namespace cuda;

State::State() : executor(settings.seed) {
  executor.mayRun = [this](Operation &op) { return mayRun(op); };
}

/// Asks for the fault that is wanted.
bool State::mayRun(Operation &op) {
  const FaultOnDemand &fault = settings.fault;
  if (fault.kind == FaultOnDemand::stall && op.number == fault.number)
    return false;
  if (op.isKernel && ++kernels == fault.number && fault.kind == FaultOnDemand::launch)
    op.run = [](Operation &) { return CUDA_ERROR_LAUNCH_FAILED; };
  return true;
}

CUresult State::submit(CUstream stream, const Op &op) {
  if (executor.failure != CUDA_SUCCESS)
    return executor.failure;
  if (!stream->capture) {
    executor.enqueue(*stream->lane, op);
    return CUDA_SUCCESS;
  }
  if (stream->capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  op->after = stream->captured;
  stream->captured = {op};
  stream->capture->nodes.push_back(op);
  return CUDA_SUCCESS;
}

bool State::isStream(CUstream stream, const char *function) const {
  if (streams.count(stream))
    return true;
  report(std::string(function) + (stream ? " on a stream that does not exist"
                                         : " on the default stream, which waits for all others"));
  return false;
}

CUresult State::refuseInCapture(const char *function) {
  for (const auto &capture : captures) {
    bool own = capture->thread == std::this_thread::get_id();
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && !own))
      continue;
    capture->invalid = true;
    report(std::string(function) + " while " + capture->origin->name + " is captured");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult State::refuseOnStream(CUstream stream, const char *function) {
  if (!stream->capture)
    return CUDA_SUCCESS;
  stream->capture->invalid = true;
  report(std::string(function) + " on " + stream->name + ", which is captured");
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

std::recursive_mutex &stateMutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

static std::unique_ptr<State> &current() {
  static std::unique_ptr<State> state = std::make_unique<State>();
  return state;
}

State &state() { return *current(); }

static uint64_t generation = 1;
uint64_t stateGeneration() { return generation; }

void resetState() {
  forgetFindings();
  forgetKernels();
  ++generation;
  current() = std::make_unique<State>();
}

} // namespace par::standin
