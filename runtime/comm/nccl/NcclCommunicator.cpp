#include "comm/nccl/NcclCommunicator.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace par::nccl {

using Clock = std::chrono::steady_clock;

static ncclConfig_t withoutBlocking() {
  ncclConfig_t config;
  config.blocking = 0;
  return config;
}

io::Status NcclCommunicator::make(const Nccl &nccl, const ncclUniqueId &id, int size, int member,
                                  Patience patience, std::unique_ptr<NcclCommunicator> &made) {
  made.reset(new NcclCommunicator(nccl, patience));
  ncclConfig_t config = withoutBlocking();
  ncclResult_t result = nccl.ncclCommInitRankConfig(&made->handle, size, id, member, &config);
  if (result != ncclSuccess && result != ncclInProgress)
    return nccl.status("ncclCommInitRankConfig", result);
  return made->settle("ncclCommInitRankConfig", patience.seconds);
}

/// Until the split has ended it is this communicator that is asked how far it is: the new one is not there.
io::Status NcclCommunicator::split(int color, int key, std::unique_ptr<NcclCommunicator> &made) {
  ncclConfig_t config = withoutBlocking();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!handle)
      return io::Status::error("the job was ended");
    ncclResult_t result = nccl.ncclCommSplit(handle, color, key, &part, &config);
    PAR_TRY(nccl.status("ncclCommSplit", result, handle));
  }
  PAR_TRY(settle("ncclCommSplit", patience.seconds));
  return takePart(color, made);
}

/// What a split has made.
io::Status NcclCommunicator::takePart(int color, std::unique_ptr<NcclCommunicator> &made) {
  if (color == ncclSplitNoColor)
    return {};
  made.reset(new NcclCommunicator(nccl, patience));
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::swap(made->handle, part);
  }
  if (!made->handle)
    return io::Status::error("ncclCommSplit made no communicator");
  return made->settle("ncclCommSplit", patience.seconds);
}

NcclCommunicator::~NcclCommunicator() {
  constexpr double farewell = 10; // seconds
  if (!handle)
    return;
  bool good = !*patience.ended;
  if (good) {
    ncclResult_t result = nccl.ncclCommFinalize(handle);
    good = (result == ncclSuccess || result == ncclInProgress) && settle("ncclCommFinalize", farewell).ok();
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (handle && good) {
    nccl.ncclCommDestroy(handle);
    handle = nullptr;
  }
  abortLocked();
}

io::Status NcclCommunicator::settle(const char *function, double seconds) {
  Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  auto pause = std::chrono::microseconds(5);
  while (true) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      ncclResult_t state = ncclInternalError;
      if (!handle || *patience.ended)
        return io::Status::error("the job was ended");
      PAR_TRY(nccl.status("ncclCommGetAsyncError", nccl.ncclCommGetAsyncError(handle, &state)));
      if (state != ncclInProgress)
        return nccl.status(function, state, handle);
    }
    if (Clock::now() > deadline) {
      abort();
      return io::Status::error(
          std::string(function) +
          ": the other ranks did not come in time; see what they say, or give --timeout");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(1000));
  }
}

io::Status NcclCommunicator::group(const std::function<io::Status(ncclComm_t)> &calls) {
  ncclComm_t comm = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    comm = handle;
  }
  if (!comm)
    return io::Status::error("the job was ended");
  PAR_NCCL(nccl, ncclGroupStart);
  io::Status status = calls(comm);
  ncclResult_t result = nccl.ncclGroupEnd();
  PAR_TRY(status);
  return result == ncclInProgress ? settle("ncclGroupEnd", patience.seconds)
                                  : nccl.status("ncclGroupEnd", result, comm);
}

io::Status NcclCommunicator::asyncError() {
  std::lock_guard<std::mutex> lock(mutex);
  ncclResult_t state = ncclSuccess;
  if (!handle)
    return {};
  PAR_TRY(nccl.status("ncclCommGetAsyncError", nccl.ncclCommGetAsyncError(handle, &state)));
  return state == ncclInProgress ? io::Status() : nccl.status("NCCL", state, handle);
}

void NcclCommunicator::abort() {
  std::lock_guard<std::mutex> lock(mutex);
  abortLocked();
}

/// A split ends with what it splits, and may leave a part then.
void NcclCommunicator::abortLocked() {
  for (ncclComm_t *one : {&handle, &part}) {
    if (*one)
      nccl.ncclCommAbort(*one);
    *one = nullptr;
  }
}

} // namespace par::nccl
