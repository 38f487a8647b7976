/// All that the stand-in is, under one lock.
#ifndef PAR_STANDIN_STATE_H
#define PAR_STANDIN_STATE_H

#include "standin/Graph.h"
#include "standin/Memory.h"
#include "standin/Report.h"
#include "standin/Settings.h"

#include <set>

namespace par::standin {

class State {
public:
  State();

  Settings settings = Settings::fromEnvironment();
  Memory memory;
  Accesses accesses;
  Executor executor;
  std::set<cuda::CUstream> streams;
  std::set<std::shared_ptr<Capture>> captures; ///< under way
  uint64_t kernels = 0;                        ///< launched so far
  int streamNumbers = 0;
  double spent = 0; ///< seconds that operations have taken beside those of the processor

  /// Notes that an operation touches bytes of live memory.
  void touch(const Operation &op, uint64_t address, uint64_t bytes, bool writes) {
    accesses.add(op.toucher(), op.clock, {address, address + bytes, writes});
  }
  /// An operation on a stream: recorded in its capture, else enqueued. The result of the call.
  cuda::CUresult submit(cuda::CUstream stream, const Op &op);
  bool isStream(cuda::CUstream stream, const char *function) const;
  /// A call that no capture allows: reported, and the capture ends invalid. Success where none is under way.
  cuda::CUresult refuseInCapture(const char *function);
  /// The same for a call that concerns one stream alone.
  cuda::CUresult refuseOnStream(cuda::CUstream stream, const char *function);

private:
  bool mayRun(Operation &op);
};

/// Used under the lock only.
State &state();
std::recursive_mutex &stateMutex();
/// Everything is as at the start of a process. Nothing of before may be used.
void resetState();
/// How often that was done, from 1 on.
uint64_t stateGeneration();

} // namespace par::standin
#endif
