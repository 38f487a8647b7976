//===- StatusLine.h - how far long work has come, on a terminal -------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_STATUSLINE_H
#define PAR_SUPPORT_STATUSLINE_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace mlir::par {

/// A line of stderr that is written anew, from one second on, twice a second, and is gone at the end. Where
/// stderr is no terminal there is none.
class StatusLine {
public:
  /// `describe` is called by another thread.
  explicit StatusLine(std::function<std::string()> describe);
  ~StatusLine();

private:
  void show();

  std::function<std::string()> describe;
  std::mutex mutex;
  std::condition_variable changed;
  bool ends = false;
  std::thread thread;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_STATUSLINE_H
