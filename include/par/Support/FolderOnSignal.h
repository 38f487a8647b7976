//===- FolderOnSignal.h - a folder that an interrupted process takes with it ------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_FOLDERONSIGNAL_H
#define PAR_SUPPORT_FOLDERONSIGNAL_H

#include "llvm/ADT/StringRef.h"
#include <csignal>

namespace mlir::par {

/// From here on SIGHUP, SIGINT and SIGTERM remove the folder `path` and the files in it before they do what
/// they did, which ends the process; ignored ones (nohup) stay so (llvm::sys::RemoveFileOnSignal removes
/// files only). There is one such folder at a time. What is at its path later is left alone.
void removeFolderOnSignal(llvm::StringRef path);
/// Removes it now, if it is still there; signals do nothing more.
void removeFolderNow();

/// While one lives, these signals wait.
class SignalsWait {
public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &operator=(const SignalsWait &) = delete;

private:
  sigset_t before;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_FOLDERONSIGNAL_H
