//===- ToolPath.h - where the project's other tools lie ---------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_TOOLPATH_H
#define PAR_SUPPORT_TOOLPATH_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::par {

/// The tool of this name beside this executable, whether it exists or not.
std::string getToolPath(llvm::StringRef name);

} // namespace mlir::par

#endif // PAR_SUPPORT_TOOLPATH_H
