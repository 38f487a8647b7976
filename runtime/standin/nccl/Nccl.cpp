// A stand-in of NCCL: ranks are threads or processes of one machine, and meet in shared memory. It says what
// on GPUs is a hang.
#include "standin/nccl/Driver.h"
#include "standin/nccl/Groups.h"
#include "standin/nccl/Settings.h"

#include <cstdio>
#include <cstring>
#include <random>
#include <unistd.h>

#define PAR_STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace par::nccl {
#define PAR_NCCL_FUNCTION(name, ...) PAR_STANDIN_EXPORT ncclResult_t name(__VA_ARGS__);
#define PAR_NCCL_TEXT(name, ...) PAR_STANDIN_EXPORT const char *name(__VA_ARGS__);
#include "comm/nccl/NcclFunctions.def"

struct ncclComm {
  std::shared_ptr<standin::Communicator> made;
  bool fails; ///< it never comes together
};
} // namespace par::nccl

namespace par::standin {

using namespace nccl;

static std::set<ncclComm_t> &handles() {
  static std::set<ncclComm_t> all;
  return all;
}

static bool isHandle(ncclComm_t comm, const char *function) {
  if (handles().count(comm))
    return true;
  reportNccl(std::string(function) + " of a communicator that there is not");
  return false;
}

/// What lies over each other has to do it in the way that NCCL knows as in place.
static bool overlapsOtherwise(Call what, uint64_t from, uint64_t to, uint64_t bytes,
                              const Communicator &comm) {
  uint64_t all = bytes * uint64_t(comm.size), own = bytes * uint64_t(comm.rank);
  uint64_t source = what == Call::reduceScatter ? all : bytes, target = what == Call::allGather ? all : bytes;
  if (what >= Call::send || (what == Call::reduce && comm.rank != 0 && to == 0))
    return false;
  bool apart = from + source <= to || to + target <= from;
  return !apart && !(what == Call::allGather       ? from == to + own
                     : what == Call::reduceScatter ? to == from + own
                                                   : from == to);
}

/// A call on a communicator that may be called.
static ncclResult_t call(ncclComm_t comm, Call what, const void *from, void *to, size_t count, int type,
                         int op, int root, CUstream stream) {
  DriverLock lock;
  if (!isHandle(comm, nameOf(what)))
    return ncclInvalidArgument;
  const std::shared_ptr<Communicator> &made = comm->made;
  if (!made->complete || made->finalized) {
    reportNccl(std::string(nameOf(what)) + " of a communicator that " +
               (made->complete ? "was finalized" : "has not come together"));
    return ncclInvalidUsage;
  }
  if (made->untaken > 0) {
    reportNccl(std::string(nameOf(what)) + " while the calls before it are being taken");
    return ncclInvalidUsage;
  }
  if (root < 0 || root >= made->size) {
    reportNccl(std::string(nameOf(what)) + ": rank " + std::to_string(root) + " of " +
               std::to_string(made->size));
    return ncclInvalidArgument;
  }
  if (overlapsOtherwise(what, reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(to),
                        count * bytesOf(type), *made)) {
    reportNccl(std::string(nameOf(what)) + ": its buffers overlap, but not as NCCL knows in place");
    return ncclInvalidArgument;
  }
  if (made->error != ncclSuccess)
    return made->error;
  return addCall(
      {made, what, reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(to), count, type, op, root},
      stream);
}

static void end(ncclComm_t comm, bool aborts) {
  comm->made->aborted |= aborts;
  if (!aborts && comm->made->underWay > 0)
    reportNccl("ncclCommDestroy while operations are under way");
  handles().erase(comm);
  delete comm;
}

} // namespace par::standin

namespace par::nccl {

using namespace standin;

ncclResult_t ncclGetVersion(int *version) {
  *version = NcclSettings::fromEnvironment().version;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  static const char *const texts[] = {"no error",
                                      "unhandled cuda error",
                                      "unhandled system error",
                                      "internal error",
                                      "invalid argument",
                                      "invalid usage",
                                      "remote process exited or there was a network error",
                                      "NCCL operation in progress"};
  return result >= 0 && result <= ncclInProgress ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::random_device random;
  std::memset(id, 0, sizeof(*id));
  std::snprintf(id->internal, sizeof(id->internal), "/par-standin-nccl-%d-%08x%08x", getpid(), random(),
                random());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  DriverLock lock;
  static NcclCounter made;
  int device = ofDriver<decltype(par_standin_device)>("par_standin_device")();
  if (device < 0 || size < 1 || size > mostMembers || rank < 0 || rank >= size) {
    reportNccl("ncclCommInitRankConfig: rank " + std::to_string(rank) + " of " + std::to_string(size) +
               (device < 0 ? " without a context" : ""));
    return ncclInvalidArgument;
  }
  if (config && (config->magic != 0xcafebeef || config->size < sizeof(ncclConfig_t))) {
    reportNccl("ncclCommInitRankConfig with a configuration that was not initialized");
    return ncclInvalidArgument;
  }
  bool fails = NcclSettings::fromEnvironment().fault.hits(NcclFault::init, made.next(device), device);
  *comm = new ncclComm{std::make_shared<Communicator>(id.internal, size, rank, device), fails};
  if (!(*comm)->made->file)
    return ncclSystemError;
  handles().insert(*comm);
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  DriverLock lock;
  if (!isHandle(comm, "ncclCommGetAsyncError"))
    return ncclInvalidArgument;
  Communicator &made = *comm->made;
  bool waits = !made.complete && (comm->fails || !made.isComplete());
  waits |= made.finalized && made.underWay > 0;
  if (made.untaken > 0)
    waits = true, --made.untaken;
  if (made.error == ncclSuccess && waits && made.firstGone() >= 0)
    made.error = ncclRemoteError;
  *error = made.error != ncclSuccess ? made.error : waits ? ncclInProgress : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  DriverLock lock;
  if (!isHandle(comm, "ncclCommFinalize"))
    return ncclInvalidArgument;
  comm->made->finalized = true;
  return comm->made->underWay > 0 ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  DriverLock lock;
  if (!isHandle(comm, "ncclCommDestroy"))
    return ncclInvalidArgument;
  end(comm, false);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  DriverLock lock;
  if (!isHandle(comm, "ncclCommAbort"))
    return ncclInvalidArgument;
  end(comm, true);
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  startGroup();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  DriverLock lock;
  return endGroup();
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, CUstream stream) {
  return call(comm, Call::allReduce, from, to, count, type, op, 0, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, CUstream stream) {
  return call(comm, Call::reduceScatter, from, to, count, type, op, 0, stream);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           CUstream stream) {
  return call(comm, Call::allGather, from, to, count, type, 0, 0, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, CUstream stream) {
  return call(comm, Call::broadcast, from, to, count, type, 0, root, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, CUstream stream) {
  return call(comm, Call::reduce, from, to, count, type, op, root, stream);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      CUstream stream) {
  return call(comm, Call::send, from, nullptr, count, type, 0, peer, stream);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      CUstream stream) {
  return call(comm, Call::receive, nullptr, to, count, type, 0, peer, stream);
}

} // namespace par::nccl
