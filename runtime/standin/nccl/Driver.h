/// The stand-in of the driver, as that of NCCL calls it.
#ifndef PAR_STANDIN_NCCL_DRIVER_H
#define PAR_STANDIN_NCCL_DRIVER_H

#include "standin/Library.h"

#include <dlfcn.h>
#include <string>

namespace par::standin {

template <typename Function>
Function *ofDriver(const char *name) {
  static void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function *>(library ? dlsym(library, name) : nullptr);
}

inline void reportNccl(const std::string &line) {
  ofDriver<decltype(par_standin_report)>("par_standin_report")(("NCCL: " + line).c_str());
}

/// Nothing advances while it lives.
class DriverLock {
public:
  DriverLock() { ofDriver<decltype(par_standin_lock)>("par_standin_lock")(); }
  ~DriverLock() { ofDriver<decltype(par_standin_unlock)>("par_standin_unlock")(); }
  DriverLock(const DriverLock &) = delete;
};

} // namespace par::standin
#endif
