//===- Seconds.h - times as people write them -------------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_SECONDS_H
#define PAR_SUPPORT_SECONDS_H

#include <string>

namespace mlir::par {

/// "2.731 s", "13.52 ms", "985.3 µs"; "0 s".
std::string formatSeconds(double seconds);

} // namespace mlir::par

#endif // PAR_SUPPORT_SECONDS_H
