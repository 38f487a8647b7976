//===- TemporaryFolder.h - a folder that an interrupted process takes with it -----------------*- C++ -*-===//
#ifndef PAR_SUPPORT_TEMPORARYFOLDER_H
#define PAR_SUPPORT_TEMPORARYFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::par {

/// "PATH.tmp-XXXXXX" beside what is to be written. It goes, with what is in it, when this does or when a
/// signal ends the process. What is at its path by then is left alone.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef path);
  TemporaryFolder(TemporaryFolder &&other);
  ~TemporaryFolder() { remove(); }
  void remove();

  const std::string &getPath() const { return folder; }
  std::string getPath(llvm::StringRef name) const;

private:
  TemporaryFolder(std::string folder, int slot) : folder(std::move(folder)), slot(slot) {}

  std::string folder; ///< empty: there is none any more
  int slot;           ///< par/io/TemporaryNames.h
};

} // namespace mlir::par

#endif // PAR_SUPPORT_TEMPORARYFOLDER_H
