#include "standin/Exports.h"

#include <chrono>
#include <cstring>

namespace par::standin {

using namespace cuda;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() +
         state().spent;
}

/// What is enqueued on the stream from now on is behind the event, both outside of captures.
static CUresult waitOutside(CUstream stream, CUevent event) {
  if (!event->at) {
    report(stream->name + " waits for an event that was never recorded: nothing is waited for");
    return CUDA_SUCCESS;
  }
  Op op = std::make_shared<Operation>("a wait of " + stream->name);
  if (!event->at->done)
    op->after.push_back(event->at);
  op->clock.join(event->at->clock);
  return state().submit(stream, op);
}

/// Takes the stream into the event's capture, where it is not in it already.
static CUresult waitInside(CUstream stream, CUevent event) {
  if (stream->capture && !event->capture) {
    stream->capture->invalid = true;
    report(stream->name + " is captured and waits for an event from outside");
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (!state().captures.count(event->capture)) {
    report(stream->name + " waits for an event of a capture that has ended");
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (stream->capture && stream->capture != event->capture) {
    report(stream->name + " waits for an event of another capture");
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  stream->capture = event->capture;
  for (const Op &op : event->captured)
    if (std::find(stream->captured.begin(), stream->captured.end(), op) == stream->captured.end())
      stream->captured.push_back(op);
  return CUDA_SUCCESS;
}

static CUresult checkEvent(CUevent event, const char *function) {
  if (event->capture) {
    event->capture->invalid = true;
    report(std::string(function) + " of an event that was recorded in a capture");
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return state().refuseInCapture(function);
}

} // namespace par::standin

namespace par::cuda {

using namespace standin;

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().executor.failure);
  if (currentDevice() < 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  std::string name = "stream " + std::to_string(++state().streamNumbers);
  if (!(flags & CU_STREAM_NON_BLOCKING))
    report(name + " is blocking: it waits for the default stream");
  *stream = new CUstream_st{state().executor.makeLane(name), name, nullptr, {}};
  state().streams.insert(*stream);
  return CUDA_SUCCESS;
}

/// Its work is done all the same.
CUresult cuStreamDestroy_v2(CUstream stream) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamDestroy"))
    return CUDA_ERROR_INVALID_HANDLE;
  PAR_STANDIN_TRY(state().refuseOnStream(stream, "cuStreamDestroy"));
  state().streams.erase(stream);
  delete stream;
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamWaitEvent"))
    return CUDA_ERROR_INVALID_HANDLE;
  return stream->capture || event->capture ? waitInside(stream, event) : waitOutside(stream, event);
}

CUresult cuStreamSynchronize(CUstream stream) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamSynchronize"))
    return CUDA_ERROR_INVALID_HANDLE;
  PAR_STANDIN_TRY(state().refuseOnStream(stream, "cuStreamSynchronize"));
  PAR_STANDIN_TRY(state().refuseInCapture("cuStreamSynchronize"));
  Op last = stream->lane->last;
  if (!last)
    return state().executor.failure;
  CUresult result = state().executor.waitUntil(lock, [&] { return last->done; });
  if (last->done)
    state().executor.hostKnows(last->clock);
  return result;
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr to, uint32_t value, unsigned) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuStreamWriteValue32"))
    return CUDA_ERROR_INVALID_HANDLE;
  Op op = std::make_shared<Operation>("a word written on " + stream->name);
  op->run = [=](Operation &self) {
    Block *block = state().memory.find(to, 4);
    if (!block || to % 4 != 0) {
      report(*self.name + ": to " + state().memory.why(to, 4));
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    state().touch(self, to, 4, true);
    __atomic_store_n(reinterpret_cast<uint32_t *>(block->host + (to - block->begin)), value,
                     __ATOMIC_RELEASE);
    if (!block->isPinned())
      std::fill_n(block->contents.begin() + long(to - block->begin), 4, Byte::written);
    return CUDA_SUCCESS;
  };
  return state().submit(stream, op);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuLaunchHostFunc"))
    return CUDA_ERROR_INVALID_HANDLE;
  Op op = std::make_shared<Operation>("a function of the host on " + stream->name);
  op->callHost = [=] { function(data); };
  return state().submit(stream, op);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  Lock lock(stateMutex());
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuEventRecord"))
    return CUDA_ERROR_INVALID_HANDLE;
  event->capture = stream->capture;
  event->captured = stream->captured;
  if (stream->capture)
    return stream->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  event->at = std::make_shared<Operation>("an event on " + stream->name);
  event->time = std::make_shared<double>(0);
  event->at->run = [time = event->time](Operation &) { return *time = now(), CUDA_SUCCESS; };
  return state().submit(stream, event->at);
}

/// In a capture with the flag it is a node: every launch records the event anew.
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuEventRecordWithFlags"))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!(flags & CU_EVENT_RECORD_EXTERNAL))
    return cuEventRecord(event, stream);
  if (!stream->capture) {
    report("cuEventRecordWithFlags: an event is recorded for outside of a capture, but " + stream->name +
           " is not captured");
    return CUDA_ERROR_INVALID_VALUE;
  }
  event->capture.reset();
  event->at = std::make_shared<Operation>("an event of a graph");
  event->time = std::make_shared<double>(0);
  Op node = std::make_shared<Operation>("an event recorded by a graph of " + stream->name);
  node->run = [at = event->at, time = event->time](Operation &self) {
    *time = now();
    at->clock.join(self.clock), at->done = true;
    return CUDA_SUCCESS;
  };
  return state().submit(stream, node);
}

CUresult cuEventQuery(CUevent event) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(checkEvent(event, "cuEventQuery"));
  PAR_STANDIN_TRY(state().executor.failure);
  if (!event->at || event->at->done)
    return CUDA_SUCCESS;
  if (!state().executor.step(lock)) { // some progress, so that polling ends
    state().executor.askedInVain();
    return state().executor.failure == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : state().executor.failure;
  }
  PAR_STANDIN_TRY(state().executor.failure);
  if (!event->at->done)
    return CUDA_ERROR_NOT_READY;
  state().executor.hostKnows(event->at->clock);
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(checkEvent(event, "cuEventSynchronize"));
  Op at = event->at;
  if (!at) {
    report("the host waits for an event that was never recorded: nothing is waited for");
    return state().executor.failure;
  }
  CUresult result = state().executor.waitUntil(lock, [&] { return at->done; });
  if (at->done)
    state().executor.hostKnows(at->clock);
  return result;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  Lock lock(stateMutex());
  for (CUevent event : {begin, end}) {
    PAR_STANDIN_TRY(checkEvent(event, "cuEventElapsedTime"));
    if (!event->at || (event->flags & CU_EVENT_DISABLE_TIMING))
      return CUDA_ERROR_INVALID_HANDLE;
    if (!event->at->done)
      return CUDA_ERROR_NOT_READY;
  }
  *milliseconds = float(1000 * (*end->time - *begin->time));
  return CUDA_SUCCESS;
}

} // namespace par::cuda
