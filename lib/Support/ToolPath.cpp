//===- ToolPath.cpp - where the project's other tools lie -----------------------------------------------===//
#include "par/Support/ToolPath.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

std::string mlir::par::getToolPath(llvm::StringRef name) {
  static int anchor;
  llvm::SmallString<128> path(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(nullptr, &anchor)));
  llvm::sys::path::append(path, name);
  return std::string(path);
}
