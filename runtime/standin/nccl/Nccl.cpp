// A stand-in of NCCL: ranks are threads or processes of one machine, and meet in shared memory. It says what
// on GPUs is a hang.
#include "standin/nccl/Driver.h"
#include "standin/nccl/Groups.h"
#include "standin/nccl/Settings.h"
#include "standin/nccl/Split.h"

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
  bool fails = false;                              ///< it never comes together
  std::unique_ptr<standin::Split> split = nullptr; ///< null: none is under way
  ncclComm **part = nullptr;                       ///< where its communicator goes
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

/// Whether the environment asks for it at the next communicator of a device (init), or its next split.
static bool fails(NcclFault::Kind kind, int device) {
  static std::map<NcclFault::Kind, NcclCounter> begun;
  return NcclSettings::fromEnvironment().fault.hits(kind, begun[kind].next(device), device);
}

static bool isInitialized(const ncclConfig_t *config, const char *function) {
  if (!config || (config->magic == 0xcafebeef && config->size >= sizeof(ncclConfig_t)))
    return true;
  reportNccl(std::string(function) + " with a configuration that was not initialized");
  return false;
}

/// Whether nothing is under way that has to end before.
static bool mayBegin(ncclComm_t comm, const std::string &what) {
  const Communicator &made = *comm->made;
  const char *why = !made.complete      ? "a communicator that has not come together"
                    : made.finalized    ? "a communicator that was finalized"
                    : comm->split       ? "a communicator that is being split"
                    : made.untaken > 0  ? "a communicator whose calls are being taken"
                    : made.underWay > 0 ? "a communicator with operations under way"
                                        : nullptr;
  if (why)
    reportNccl(what + " of " + why);
  return !why;
}

/// Until then the communicator is in progress, and its part is not there.
static bool isBeingSplit(ncclComm_t comm) {
  if (!comm->split)
    return false;
  if (comm->made->error == ncclSuccess && !comm->split->advance())
    return true;
  if (std::shared_ptr<Communicator> part = comm->split->made(); part && comm->made->error == ncclSuccess) {
    *comm->part = new ncclComm{part};
    handles().insert(*comm->part);
  }
  comm->split.reset();
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
  if (!made->complete || made->finalized || comm->split) {
    reportNccl(std::string(nameOf(what)) + " of a communicator that " +
               (!made->complete   ? "has not come together"
                : made->finalized ? "was finalized"
                                  : "is being split"));
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
  if (!aborts && (comm->made->underWay > 0 || comm->split))
    reportNccl(std::string("ncclCommDestroy while ") +
               (comm->split ? "a split is under way" : "operations are under way"));
  if (!aborts)
    comm->made->file.member(comm->made->rank).leaves = 1;
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
  int device = ofDriver<decltype(par_standin_device)>("par_standin_device")();
  if (device < 0 || size < 1 || size > mostMembers || rank < 0 || rank >= size) {
    reportNccl("ncclCommInitRankConfig: rank " + std::to_string(rank) + " of " + std::to_string(size) +
               (device < 0 ? " without a context" : ""));
    return ncclInvalidArgument;
  }
  if (!isInitialized(config, "ncclCommInitRankConfig"))
    return ncclInvalidArgument;
  *comm = new ncclComm{std::make_shared<Communicator>(id.internal, size, rank, device),
                       fails(NcclFault::init, device)};
  if (!(*comm)->made->file)
    return ncclSystemError;
  handles().insert(*comm);
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *part, ncclConfig_t *config) {
  DriverLock lock;
  if (!isHandle(comm, "ncclCommSplit") || !isInitialized(config, "ncclCommSplit"))
    return ncclInvalidArgument;
  if (color < 0 && color != ncclSplitNoColor) {
    reportNccl("ncclCommSplit with color " + std::to_string(color) +
               ", which is neither from 0 on nor NCCL_SPLIT_NOCOLOR");
    return ncclInvalidArgument;
  }
  if (!mayBegin(comm, "ncclCommSplit"))
    return ncclInvalidUsage;
  if (comm->made->error != ncclSuccess)
    return comm->made->error;
  if (comm->made->splits == mostSplits) {
    reportNccl("more than " + std::to_string(mostSplits) + " splits of a communicator");
    return ncclInternalError;
  }
  *part = nullptr;
  comm->part = part;
  bool stalls = color >= 0 && fails(NcclFault::init, comm->made->device);
  if (fails(NcclFault::split, comm->made->device))
    comm->made->error = ncclRemoteError, stalls = true;
  comm->split = std::make_unique<Split>(comm->made, color, key, stalls);
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  DriverLock lock;
  if (!isHandle(comm, "ncclCommGetAsyncError"))
    return ncclInvalidArgument;
  Communicator &made = *comm->made;
  bool waits = !made.complete && (comm->fails || !made.isComplete());
  waits |= made.finalized && made.underWay > 0;
  waits |= isBeingSplit(comm);
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
  if (comm->split) {
    reportNccl("ncclCommFinalize while a split is under way");
    return ncclInvalidUsage;
  }
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
