//===- Headroom.h - what plans leave free of a device -----------------------------------------*- C++ -*-===//
#ifndef PAR_COST_HEADROOM_H
#define PAR_COST_HEADROOM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

struct Headroom {
  double share = 0; ///< of the device's memory
  double bytes = 0;
  double of(double memoryBytes) const { return share * memoryBytes + bytes; }
};

/// This is left free of GPUs where nothing says otherwise: allocators of libraries and fragments take some.
inline constexpr Headroom kUsualHeadroom{0.05, 0};

/// "5%", "4GiB", or "0"; the error says what is accepted.
llvm::Expected<Headroom> parseHeadroom(llvm::StringRef text);

} // namespace mlir::par

#endif // PAR_COST_HEADROOM_H
