//===- FolderOnSignal.cpp - a folder that an interrupted process takes with it --------------------------===//
#include "par/Support/FolderOnSignal.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};

/// Which signals the process was started to ignore (nohup). Looked up before main: LLVM puts its handlers
/// over that.
struct Ignored {
  bool signals[std::size(kSignals)];
  Ignored() {
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction action;
      signals[i] = !sigaction(kSignals[i], nullptr, &action) && action.sa_handler == SIG_IGN;
    }
  }
};
const Ignored ignored;
char folder[PATH_MAX]; ///< empty: none
struct stat identity;  ///< of the folder, whatever is at its path later
struct sigaction previous[std::size(kSignals)];
bool installed = false;
} // namespace

/// By system calls alone: readdir allocates, and the signal may have come within malloc.
static void removeFiles(int descriptor) {
  alignas(dirent64) char buffer[4096];
  lseek(descriptor, 0, SEEK_SET);
  for (long size; (size = syscall(SYS_getdents64, descriptor, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < size;) {
      auto *entry = reinterpret_cast<dirent64 *>(buffer + at);
      unlinkat(descriptor, entry->d_name, 0);
      at += entry->d_reclen;
    }
}

static void removeFolder() {
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  struct stat found;
  bool same =
      !fstat(descriptor, &found) && found.st_ino == identity.st_ino && found.st_dev == identity.st_dev;
  // A linker that still runs may add a file; it fails once the folder is gone.
  for (int attempt = 0; same && attempt < 100; ++attempt) {
    removeFiles(descriptor);
    if (!rmdir(folder) || errno != ENOTEMPTY)
      break;
  }
  close(descriptor);
}

static void handle(int signal) {
  if (*folder)
    removeFolder();
  *folder = 0;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      sigaction(signal, &previous[i], nullptr);
  // It is delivered once this returns.
  raise(signal);
}

static void install() {
  if (installed)
    return;
  installed = true;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action = {};
    action.sa_handler = ignored.signals[i] ? SIG_IGN : handle;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, &previous[i]);
  }
}

mlir::par::SignalsWait::SignalsWait() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : kSignals)
    sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before);
}

mlir::par::SignalsWait::~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

void mlir::par::removeFolderOnSignal(llvm::StringRef path) {
  SignalsWait wait;
  install();
  // A longer path could not be opened either.
  size_t size = path.size() < sizeof folder ? path.size() : 0;
  memcpy(folder, path.data(), size);
  folder[size] = 0;
  if (lstat(folder, &identity))
    *folder = 0;
}

void mlir::par::removeFolderNow() {
  SignalsWait wait;
  if (*folder)
    removeFolder();
  *folder = 0;
}
