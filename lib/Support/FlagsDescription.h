//===- FlagsDescription.h - flags as they are told to people ----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_SUPPORT_FLAGSDESCRIPTION_H
#define PAR_LIB_SUPPORT_FLAGSDESCRIPTION_H

#include "par/Support/Flags.h"
#include "par/config/UnknownFlag.h"

namespace mlir::par {

/// Keeps the runtime's types, whose namespace has the compiler's name, out of the header of flags.
struct Flags::Description {
  static ::par::config::KnownFlags getKnown(const Flags &flags);
};

} // namespace mlir::par

#endif // PAR_LIB_SUPPORT_FLAGSDESCRIPTION_H
