#include "core/Console.h"

#include "par/io/Threads.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace par::rt {

namespace {
class Console {
public:
  explicit Console(int descriptor) : descriptor(descriptor) {
    pending.reserve(most);
    writing.reserve(most);
    std::thread writer;
    hasThread = io::startThread(writer, "", [this] { write(); }).ok();
    if (hasThread)
      writer.detach(); // it may hang in a write when the process ends
  }

  void print(std::string_view text, std::chrono::milliseconds patience) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!hasThread) { // none could be started, which is what may have to be said
      writing.assign(text);
      writeAll();
      writing.clear();
      return;
    }
    auto fits = [&] { return pending.empty() || pending.size() + text.size() <= most; };
    if (!fits() && (stuck || !changed.wait_for(lock, patience, fits))) {
      stuck = true; // nobody waits for this reader again before it has read
      return;
    }
    pending.append(text);
    changed.notify_all();
  }

  void finish() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(1), [&] { return pending.empty() && writing.empty(); });
  }

private:
  static constexpr size_t most = 1 << 14;

  [[noreturn]] void write() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return !pending.empty(); });
      pending.swap(writing);
      stuck = false;
      changed.notify_all();
      lock.unlock();
      writeAll();
      lock.lock();
      writing.clear();
      changed.notify_all();
    }
  }

  /// What cannot be written is lost: a run does not end for want of a reader.
  void writeAll() const {
    for (size_t done = 0; done < writing.size();) {
      ssize_t count = ::write(descriptor, writing.data() + done, writing.size() - done);
      if (count > 0) {
        done += size_t(count);
      } else if (count < 0 && errno == EAGAIN) {
        pollfd ready{descriptor, POLLOUT, 0};
        poll(&ready, 1, -1);
      } else if (count == 0 || errno != EINTR) {
        return;
      }
    }
  }

  const int descriptor;
  bool hasThread = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool stuck = false;           ///< somebody waited in vain since the last write
  std::string pending, writing; ///< the latter belongs to the thread while it is not empty
};
} // namespace

// Never destroyed: their threads end with the process.
static Console &output() {
  static auto *one = new Console(STDOUT_FILENO);
  return *one;
}
static Console &errors() {
  static auto *one = new Console(STDERR_FILENO);
  return *one;
}

static std::atomic<bool> hasBar{false}, mayHaveBar{true};
static constexpr char toEndOfLine[] = "\033[K";

/// Takes a bar away before a text.
static void printOver(std::string_view text, std::chrono::milliseconds patience) {
  if (!hasBar.exchange(false))
    return output().print(text, patience); // no memory is taken within steps
  output().print((std::string("\r") + toEndOfLine).append(text), patience);
}

int barColumns() {
  const char *kind = std::getenv("TERM");
  winsize size;
  if (!mayHaveBar || !isatty(STDOUT_FILENO) || !kind || std::string_view(kind) == "dumb" ||
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col ? size.ws_col : 80; // some do not say
}

void forbidBars() { mayHaveBar = false; }

void printBar(std::string_view text) {
  hasBar = true;
  char line[600]; // no memory is taken within steps
  std::snprintf(line, sizeof(line), "\r%.*s%s", int(std::min<size_t>(text.size(), 512)), text.data(),
                toEndOfLine);
  output().print(line, std::chrono::seconds(0));
}

void print(std::string_view text) {
  if (!text.empty())
    printOver(text, std::chrono::seconds(1));
}
void printProgress(std::string_view text) { printOver(text, std::chrono::seconds(0)); }
void finishPrinting() {
  if (hasBar.exchange(false))
    output().print("\n", std::chrono::seconds(1)); // what it said stays above what follows
  output().finish();
}

void printError(std::string_view text) {
  finishPrinting();
  errors().print(text, std::chrono::seconds(1));
  errors().finish();
}

} // namespace par::rt
