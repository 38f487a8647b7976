//===- Version.h - the version of compiler and runtime ----------------------------------------*- C++ -*-===//
#ifndef PAR_VERSION_H
#define PAR_VERSION_H

namespace par {

/// "0.1.0": what `--version` prints behind a tool's name.
const char *getVersion();

} // namespace par

#endif // PAR_VERSION_H
