//===- TemporaryFolder.cpp - a folder that an interrupted process takes with it -------------------------===//
#include "par/Support/TemporaryFolder.h"
#include "par/Support/MakeError.h"
#include "par/io/EndingSignals.h"
#include "par/io/TemporaryNames.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::par;

llvm::Expected<TemporaryFolder> TemporaryFolder::create(llvm::StringRef path) {
  llvm::SmallString<128> folder;
  // No signal comes between the folder and what removes it.
  ::par::io::SignalsWait wait;
  llvm::sys::fs::createUniquePath(path + ".tmp-%%%%%%", folder, /*MakeAbsolute=*/false);
  if (mkdir(folder.c_str(), 0777))
    return makeError(std::error_code(errno, std::generic_category()).message());
  int slot = ::par::io::registerTemporaryFolder(folder.str().str());
  if (slot < 0) {
    rmdir(folder.c_str());
    return makeError("the path is too long");
  }
  return TemporaryFolder(folder.str().str(), slot);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other)
    : folder(std::move(other.folder)), slot(other.slot) {
  other.folder.clear();
}

void TemporaryFolder::remove() {
  if (!folder.empty())
    ::par::io::removeTemporary(slot);
  folder.clear();
}

std::string TemporaryFolder::getPath(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}
