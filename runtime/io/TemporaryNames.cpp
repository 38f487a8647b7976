#include "TemporaryNames.h"

#include "par/io/Files.h"

#include <atomic>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace par::io {

// Fixed storage, so that a signal handler can walk it.
namespace {
struct TemporaryName {
  std::atomic<int> state{0}; // 0 free, 1 being written, 2 valid
  dev_t device;
  ino_t inode;
  char path[4096];
};
constexpr int most = 32;
TemporaryName names[most];
} // namespace

int registerTemporary(const std::string &path, int descriptor) {
  struct stat info;
  if (path.size() >= sizeof(TemporaryName::path) || fstat(descriptor, &info) != 0)
    return -1;
  for (int i = 0; i < most; ++i) {
    int expected = 0;
    if (!names[i].state.compare_exchange_strong(expected, 1))
      continue;
    std::memcpy(names[i].path, path.c_str(), path.size() + 1);
    names[i].device = info.st_dev, names[i].inode = info.st_ino;
    names[i].state = 2;
    return i;
  }
  return -1;
}

void releaseTemporary(int slot) { names[slot].state = 0; }

/// Callable from a signal handler.
static void unlinkOwn(const TemporaryName &name) {
  struct stat info;
  if (lstat(name.path, &info) == 0 && info.st_dev == name.device && info.st_ino == name.inode)
    unlink(name.path);
}

void removeTemporary(int slot) {
  unlinkOwn(names[slot]);
  releaseTemporary(slot);
}

void removeTemporaryFiles() {
  for (TemporaryName &name : names)
    if (name.state == 2)
      unlinkOwn(name);
}

} // namespace par::io
