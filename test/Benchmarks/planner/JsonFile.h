//===- JsonFile.h - values of JSON files ------------------------------------------------------*- C++ -*-===//
#ifndef PAR_BENCHMARKS_PLANNER_JSONFILE_H
#define PAR_BENCHMARKS_PLANNER_JSONFILE_H

#include "par/Support/MakeError.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// Errors: with the file.
llvm::Expected<llvm::json::Value> readJson(llvm::StringRef file);

/// By `fromJSON` of the type. Errors: with the file, and the place in it, which begins with `root`.
template <typename T>
llvm::Expected<T> readJson(llvm::StringRef file, llvm::StringLiteral root) {
  llvm::Expected<llvm::json::Value> value = readJson(file);
  if (!value)
    return value.takeError();
  T result;
  llvm::json::Path::Root path(root);
  if (!fromJSON(*value, result, path))
    return makeError(file + ": " + llvm::toString(path.getError()));
  return result;
}

} // namespace mlir::par

#endif // PAR_BENCHMARKS_PLANNER_JSONFILE_H
