//===- TextFile.cpp - files of text that a user names ---------------------------------------------------===//
#include "par/Support/TextFile.h"
#include "par/Support/MakeError.h"
#include "par/io/TextFile.h"
#include <filesystem>
#include <map>

using namespace mlir::par;
using llvm::MemoryBuffer;

llvm::Expected<std::unique_ptr<MemoryBuffer>> mlir::par::readTextFile(llvm::StringRef path,
                                                                      size_t mostBytes) {
  if (path == "-") {
    auto input = MemoryBuffer::getSTDIN();
    if (!input)
      return makeError(input.getError().message());
    return std::move(*input);
  }
  // What came from a pipe does not come again: whoever reads it a second time gets the same.
  static std::map<std::string, std::string> fromPipes;
  if (auto known = fromPipes.find(path.str()); known != fromPipes.end())
    return MemoryBuffer::getMemBufferCopy(known->second, path);
  std::string content;
  if (::par::io::Status status = ::par::io::readText(path.str(), mostBytes, content); !status.ok())
    return makeError(status.message());
  std::error_code code;
  if (std::filesystem::is_fifo(path.str(), code))
    fromPipes[path.str()] = content;
  return MemoryBuffer::getMemBufferCopy(content, path);
}
