/// The stand-in of the driver, as those of other libraries call it: each is a library of its own.
#ifndef PAR_STANDIN_OFDRIVER_H
#define PAR_STANDIN_OFDRIVER_H

#include "standin/Library.h"

#include <dlfcn.h>
#include <string>

namespace par::standin {

/// A function of Library.h.
template <typename Function>
Function *ofDriver(const char *name) {
  static void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function *>(library ? dlsym(library, name) : nullptr);
}

/// A finding.
inline void reportToDriver(const std::string &line) {
  ofDriver<decltype(par_standin_report)>("par_standin_report")(line.c_str());
}

} // namespace par::standin
#endif
