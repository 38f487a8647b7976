/// The stand-in of the driver, as that of NCCL calls it.
#ifndef PAR_STANDIN_NCCL_DRIVER_H
#define PAR_STANDIN_NCCL_DRIVER_H

#include "standin/OfDriver.h"

namespace par::standin {

inline void reportNccl(const std::string &line) { reportToDriver("NCCL: " + line); }

/// Nothing advances while it lives.
class DriverLock {
public:
  DriverLock() { ofDriver<decltype(par_standin_lock)>("par_standin_lock")(); }
  ~DriverLock() { ofDriver<decltype(par_standin_unlock)>("par_standin_unlock")(); }
  DriverLock(const DriverLock &) = delete;
};

} // namespace par::standin
#endif
