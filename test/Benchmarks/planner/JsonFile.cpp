//===- JsonFile.cpp - values of JSON files --------------------------------------------------------------===//
#include "JsonFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::par;

llvm::Expected<llvm::json::Value> mlir::par::readJson(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return makeError(file + ": " + buffer.getError().message());
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return makeError(file + ": " + llvm::toString(value.takeError()));
  return value;
}
