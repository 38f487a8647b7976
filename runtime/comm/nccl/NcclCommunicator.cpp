#include "comm/nccl/NcclCommunicator.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace par::nccl {

using Clock = std::chrono::steady_clock;

io::Status NcclCommunicator::make(const Nccl &nccl, const ncclUniqueId &id, int size, int member,
                                  Patience patience, std::unique_ptr<NcclCommunicator> &made) {
  made.reset(new NcclCommunicator(nccl, patience));
  ncclConfig_t config;
  config.blocking = 0;
  ncclResult_t result = nccl.ncclCommInitRankConfig(&made->handle, size, id, member, &config);
  if (result != ncclSuccess && result != ncclInProgress)
    return nccl.status("ncclCommInitRankConfig", result);
  return made->settle("ncclCommInitRankConfig", patience.seconds);
}

NcclCommunicator::~NcclCommunicator() {
  constexpr double farewell = 10; // seconds
  if (!handle)
    return;
  ncclResult_t result = nccl.ncclCommFinalize(handle);
  bool good =
      (result == ncclSuccess || result == ncclInProgress) && settle("ncclCommFinalize", farewell).ok();
  std::lock_guard<std::mutex> lock(mutex);
  if (handle)
    good ? nccl.ncclCommDestroy(handle) : nccl.ncclCommAbort(handle);
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
  if (handle)
    nccl.ncclCommAbort(handle);
  handle = nullptr;
}

} // namespace par::nccl
