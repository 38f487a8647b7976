//===- Plugins.h - what is added to par's tools from outside ----------------------------------*- C++ -*-===//
#ifndef PAR_SOURCE_PLUGINS_H
#define PAR_SOURCE_PLUGINS_H

#include "par/Support/Flags.h"

namespace mlir::par {

/// `--plugin FILE.so`, as often as there are plugins.
void describePluginFlag(Flags &flags, std::vector<std::string> &plugins);

/// Loads them: each registers formats of models (ModelSource.h) and passes (mlirGetPassPluginInfo). The error
/// names the one that cannot be loaded.
llvm::Error loadPlugins(llvm::ArrayRef<std::string> plugins);

} // namespace mlir::par

#endif // PAR_SOURCE_PLUGINS_H
