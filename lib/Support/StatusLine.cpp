//===- StatusLine.cpp - how far long work has come, on a terminal ---------------------------------------===//
#include "par/Support/StatusLine.h"
#include "par/io/Threads.h"

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace mlir::par;

static constexpr std::chrono::milliseconds kFirst(1000), kNext(500);
static constexpr size_t kUsualColumns = 80;

static size_t countColumns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

StatusLine::StatusLine(std::function<std::string()> describe) : describe(std::move(describe)) {
  if (isatty(STDERR_FILENO))
    (void)::par::io::startThread(thread, "", [this] { show(); }).ok(); // without a thread it is quiet
}

StatusLine::~StatusLine() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_all();
  thread.join();
}

void StatusLine::show() {
  std::unique_lock<std::mutex> lock(mutex);
  bool isShown = false;
  for (auto wait = kFirst; !changed.wait_for(lock, wait, [this] { return ends; }); wait = kNext) {
    std::string text = describe();
    text.resize(std::min(text.size(), countColumns() - 1));
    while (!text.empty() && (text.back() & 0x80)) // no part of a letter
      text.pop_back();
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    isShown = true;
  }
  if (isShown)
    std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}
