#include "standin/Library.h"

#include "standin/Exports.h"

namespace par::standin {

using namespace cuda;
using Ranges = std::vector<par_standin_range>;

/// What is read was written, and what is written is from now on.
static void checkContents(const std::string &name, Block &block, const par_standin_range &range) {
  if (block.isPinned())
    return;
  Byte *contents = block.contents.data() + (range.address - block.begin);
  if (range.writes)
    std::fill_n(contents, range.bytes, Byte::written);
  else if (std::count(contents, contents + range.bytes, Byte::written) != long(range.bytes))
    report(name + ": reads bytes that nobody wrote, at " + Memory::name(block, range.address));
}

static CUresult run(Operation &op, const Ranges &ranges, void (*compute)(void *, char *const *), void *data) {
  std::vector<char *> hosts;
  for (const par_standin_range &range : ranges) {
    Block *block = state().memory.find(range.address, range.bytes);
    if (!block) {
      report(*op.name + ": " + (range.writes ? "writes " : "reads ") +
             state().memory.why(range.address, range.bytes));
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    state().touch(op, range.address, range.bytes, range.writes != 0);
    hosts.push_back(block->host + (range.address - block->begin));
  }
  for (const par_standin_range &range : ranges)
    if (!range.writes)
      checkContents(*op.name, *state().memory.find(range.address, range.bytes), range);
  for (const par_standin_range &range : ranges)
    if (range.writes)
      checkContents(*op.name, *state().memory.find(range.address, range.bytes), range);
  compute(data, hosts.data());
  return CUDA_SUCCESS;
}

namespace {
/// A task and the calls that it is made of.
class Task {
public:
  Task(const par_standin_task &calls, void *data) : calls(calls), task(calls.begin(data)) {}
  ~Task() { calls.end(task); }
  Task(const Task &) = delete;
  Progress advance(Operation &op) {
    static const Progress progress[] = {Progress::waits, Progress::moved, Progress::ended, Progress::failed};
    return progress[calls.advance(task, reinterpret_cast<par_standin_operation *>(&op))];
  }

private:
  const par_standin_task calls;
  void *const task;
};
} // namespace

} // namespace par::standin

using namespace par::standin;

PAR_STANDIN_EXPORT int par_standin_submit(void *stream, const char *name, const par_standin_range *ranges,
                                          uint32_t count, void (*compute)(void *, char *const *),
                                          void (*release)(void *), void *data) {
  Lock lock(stateMutex());
  std::shared_ptr<void> kept(data, release);
  auto on = static_cast<par::cuda::CUstream>(stream);
  if (!state().isStream(on, name))
    return par::cuda::CUDA_ERROR_INVALID_HANDLE;
  Op op = std::make_shared<Operation>(std::string(name) + " on " + on->name);
  op->run = [kept, compute, all = Ranges(ranges, ranges + count)](Operation &self) {
    return run(self, all, compute, kept.get());
  };
  return state().submit(on, op);
}

PAR_STANDIN_EXPORT int par_standin_submit_task(void *stream, const char *name, const par_standin_task *calls,
                                               void *data) {
  Lock lock(stateMutex());
  std::shared_ptr<void> kept(data, calls->release);
  auto on = static_cast<par::cuda::CUstream>(stream);
  if (!state().isStream(on, name))
    return par::cuda::CUDA_ERROR_INVALID_HANDLE;
  Op op = std::make_shared<Operation>(std::string(name) + " on " + on->name);
  op->begin = [kept, made = *calls] {
    auto task = std::make_shared<Task>(made, kept.get());
    return [task](Operation &self) { return task->advance(self); };
  };
  return state().submit(on, op);
}

/// The lock is held.
PAR_STANDIN_EXPORT void par_standin_spend(double seconds) { state().spent += seconds; }

PAR_STANDIN_EXPORT char *par_standin_reach(par_standin_operation *operation, uint64_t address, uint64_t bytes,
                                           int kind) {
  auto &op = *reinterpret_cast<Operation *>(operation);
  bool writes = kind == 2;
  Block *block = state().memory.find(address, bytes);
  if (!block) {
    report(*op.name + ": " + (writes ? "writes " : "reads ") + state().memory.why(address, bytes));
    return nullptr;
  }
  state().touch(op, address, bytes, writes);
  if (kind > 0)
    checkContents(*op.name, *block, {address, bytes, writes});
  return block->host + (address - block->begin);
}

PAR_STANDIN_EXPORT void par_standin_ask_deadlock(int (*is_deadlock)(int stuck)) {
  Lock lock(stateMutex());
  state().executor.isDeadlock = [is_deadlock](bool stuck) { return is_deadlock(stuck) != 0; };
}

PAR_STANDIN_EXPORT int par_standin_device(void) { return currentDevice(); }
PAR_STANDIN_EXPORT uint64_t par_standin_generation(void) { return stateGeneration(); }
PAR_STANDIN_EXPORT void par_standin_lock(void) { stateMutex().lock(); }
PAR_STANDIN_EXPORT void par_standin_unlock(void) { stateMutex().unlock(); }

PAR_STANDIN_EXPORT void par_standin_report(const char *line) { report(line); }
