/// What the environment asks of the stand-in of NCCL.
#ifndef PAR_STANDIN_NCCL_SETTINGS_H
#define PAR_STANDIN_NCCL_SETTINGS_H

#include <cstdint>
#include <map>

namespace par::standin {

/// The operation (error, stall), communicator (init) or call of ncclCommSplit (split) of this number, from 1
/// on, in a process that has this GPU.
struct NcclFault {
  enum Kind { none, error, stall, init, split } kind = none;
  uint64_t number = 0;
  int gpu = 0;
  bool hits(Kind asked, uint64_t at, int device) const {
    return kind == asked && number == at && gpu == device;
  }
};

struct NcclSettings {
  int version = 22809; ///< PAR_STANDIN_NCCL, as ncclGetVersion says it
  NcclFault fault;     ///< PAR_STANDIN_NCCL_FAULT: error@N:GPU, stall@N:GPU, init@N:GPU, split@N:GPU

  /// Reports what it cannot read.
  static NcclSettings fromEnvironment();
};

/// Counts what faults are numbered by, for each GPU from 1 on, until everything begins anew.
class NcclCounter {
public:
  uint64_t next(int gpu);

private:
  uint64_t generation = 0;
  std::map<int, uint64_t> counts;
};

} // namespace par::standin
#endif
