//===- Targets.h - what targets mean -----------------------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_TARGETS_H
#define PAR_DIALECT_PAR_IR_TARGETS_H

#include <cstdint>

namespace mlir::par {

/// Targets with this number do not count.
constexpr int64_t kIgnoredTarget = -100;

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_TARGETS_H
