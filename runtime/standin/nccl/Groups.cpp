#include "standin/nccl/Groups.h"

#include "standin/nccl/Driver.h"
#include "standin/nccl/Settings.h"
#include "standin/nccl/Waits.h"

#include <algorithm>
#include <list>
#include <map>

namespace par::standin {

using namespace nccl;

namespace {
using Parts = std::vector<Part>;

/// Calls of the calling thread that are not enqueued yet.
struct Open {
  int depth = 0;
  Parts parts;
  CUstream stream = nullptr;
};

/// An operation while it runs.
class Running : public Waits {
public:
  explicit Running(const Parts &parts);
  ~Running() override;
  int advance(par_standin_operation *operation);
  void addAwaited(std::set<int> &pids) const override;
  std::string text() const override;

private:
  bool mayBegin();
  int fault();

  const Parts &parts;
  std::list<RunningPart> running;
  const bool collective; ///< has a part of more than two members, or one that is no message
  bool begun = false, stalled = false;
};

/// Of this process.
struct Operations {
  std::map<int, const Running *> collective; ///< by device: those of one device come one after the other
  NcclCounter begun;
};
} // namespace

static Open &open() {
  static thread_local Open calls;
  return calls;
}

static Operations &operations() {
  static Operations all;
  return all;
}

Running::Running(const Parts &parts)
    : parts(parts), collective(std::any_of(parts.begin(), parts.end(), [](const Part &part) {
        return part.isCollective() || part.comm->size > 2;
      })) {
  for (const Part &part : parts)
    running.emplace_back(part);
}

Running::~Running() {
  for (auto &entry : operations().collective)
    if (entry.second == this)
      entry.second = nullptr;
  for (const Part &part : parts)
    --part.comm->underWay;
}

/// What hangs on GPUs without room for the kernels of two collectives hangs here: they take turns. Messages
/// between two run beside them.
bool Running::mayBegin() {
  if (!collective)
    return true;
  const Running *&other = operations().collective[parts.front().comm->device];
  if (other && other != this)
    return false;
  other = this;
  return true;
}

/// That the environment asks for: a par_standin_progress, or -1.
int Running::fault() {
  Communicator &comm = *parts.front().comm;
  NcclFault fault = NcclSettings::fromEnvironment().fault;
  uint64_t number = operations().begun.next(comm.device);
  if (fault.hits(NcclFault::error, number, comm.device))
    comm.error = ncclRemoteError;
  stalled =
      fault.hits(NcclFault::error, number, comm.device) || fault.hits(NcclFault::stall, number, comm.device);
  return stalled ? par_standin_moved : -1;
}

int Running::advance(par_standin_operation *operation) {
  bool aborted = std::any_of(parts.begin(), parts.end(), [](const Part &part) { return part.comm->aborted; });
  if (!aborted && (stalled || !mayBegin()))
    return par_standin_waits;
  if (!begun) {
    begun = true;
    if (int result = fault(); result >= 0)
      return result;
  }
  int result = par_standin_waits;
  for (RunningPart &part : running) {
    if (part.isDone())
      continue;
    int one = part.advance(operation);
    if (one == par_standin_failed)
      return one;
    result = std::max(result, one);
  }
  bool ended =
      std::all_of(running.begin(), running.end(), [](const RunningPart &part) { return part.isDone(); });
  if (result == par_standin_waits)
    for (const Part &part : parts)
      if (part.comm->error == ncclSuccess && part.comm->firstGone() >= 0)
        part.comm->error = ncclRemoteError;
  return ended ? par_standin_ended : result;
}

void Running::addAwaited(std::set<int> &pids) const {
  for (const RunningPart &part : running)
    if (!part.isDone())
      part.addAwaited(pids);
}

std::string Running::text() const {
  if (stalled)
    return "an operation that was asked to stand still";
  if (!begun)
    return parts.front().text() + ", behind another collective of the GPU";
  for (const RunningPart &part : running)
    if (!part.isDone())
      return part.text();
  return parts.front().text();
}

/// Communicators do not block: every second group is taken only after a while.
static ncclResult_t take(const Parts &parts) {
  static uint64_t groups = 0;
  if (++groups % 2)
    return ncclSuccess;
  for (const Part &part : parts)
    part.comm->untaken = 2;
  return ncclInProgress;
}

/// On the stream, as one operation.
static ncclResult_t enqueue(Parts given, CUstream stream) {
  static auto *submit = ofDriver<decltype(par_standin_submit_task)>("par_standin_submit_task");
  static auto *ask = ofDriver<decltype(par_standin_ask_deadlock)>("par_standin_ask_deadlock");
  if (given.empty())
    return ncclSuccess;
  ask(isDeadlock);
  par_standin_task calls;
  calls.begin = [](void *data) -> void * {
    auto &parts = *static_cast<Parts *>(data);
    for (const Part &part : parts)
      ++part.comm->underWay;
    return new Running(parts);
  };
  calls.advance = [](void *task, par_standin_operation *operation) {
    return static_cast<Running *>(task)->advance(operation);
  };
  calls.end = [](void *task) { delete static_cast<Running *>(task); };
  calls.release = [](void *data) { delete static_cast<Parts *>(data); };
  std::string name = nameOf(given.front().call);
  if (given.size() > 1)
    name += " and " + std::to_string(given.size() - 1) + " more";
  auto *parts = new Parts(std::move(given));
  ncclResult_t taken = take(*parts);
  return submit(stream, name.c_str(), &calls, parts) ? ncclUnhandledCudaError : taken;
}

void startGroup() { ++open().depth; }

ncclResult_t endGroup() {
  Open &calls = open();
  if (calls.depth == 0) {
    reportNccl("ncclGroupEnd without ncclGroupStart");
    return ncclInvalidUsage;
  }
  if (--calls.depth > 0)
    return ncclSuccess;
  Parts parts;
  parts.swap(calls.parts);
  return enqueue(std::move(parts), calls.stream);
}

ncclResult_t addCall(Part part, CUstream stream) {
  Open &calls = open();
  if (!calls.parts.empty() && calls.stream != stream) {
    reportNccl("a group has calls on two streams");
    return ncclInvalidUsage;
  }
  calls.stream = stream;
  calls.parts.push_back(std::move(part));
  if (calls.depth > 0)
    return ncclSuccess;
  startGroup();
  return endGroup();
}

} // namespace par::standin
