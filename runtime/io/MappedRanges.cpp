#include "par/io/MappedRanges.h"

#include "par/io/Files.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace par::io {

// Fixed storage, so that a signal handler can walk it. A file beyond it has no name in its message.
namespace {
struct Range {
  std::atomic<const char *> path{nullptr}; // null: free
  std::atomic<uintptr_t> begin{0}, end{0};
};
Range ranges[1024];
} // namespace

int rememberMapping(const void *begin, size_t bytes, const char *path) {
  int slot = 0;
  for (Range &range : ranges) {
    const char *nothing = nullptr;
    if (range.path.compare_exchange_strong(nothing, path)) {
      range.begin = uintptr_t(begin);
      range.end = uintptr_t(begin) + bytes;
      return slot;
    }
    ++slot;
  }
  return -1;
}

void forgetMapping(int slot) {
  if (slot < 0)
    return;
  ranges[slot].begin = ranges[slot].end = 0;
  ranges[slot].path = nullptr;
}

const char *mappedFileAt(const void *address) {
  for (const Range &range : ranges)
    if (uintptr_t(address) >= range.begin && uintptr_t(address) < range.end)
      return range.path;
  return nullptr;
}

void reportTruncation(const char *path, const char *reader) {
  char text[4096 + 256];
  int length =
      std::snprintf(text, sizeof(text),
                    "error: %s: was cut short while %s read it; run again with the whole file, and let "
                    "nobody write it meanwhile\n",
                    path, *reader ? reader : "this process");
  if (write(2, text, size_t(length) < sizeof(text) ? size_t(length) : sizeof(text) - 1) < 0) {
  }
}

static void onBusError(int signal, siginfo_t *info, void *) {
  const char *path = mappedFileAt(info->si_addr);
  if (!path) { // something else: as if there were no handler
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  static std::atomic<bool> reported{false};
  while (reported.exchange(true)) // another thread came upon it first: it ends the process
    pause();
  reportTruncation(path, "");
  removeTemporaries();
  _exit(1);
}

void installTruncationHandler() {
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

} // namespace par::io
