//===- StatusLineTest.cpp - how far long work has come, on a terminal -----------------------------------===//
#include "par/Support/StatusLine.h"
#include "gtest/gtest.h"

#include <atomic>
#include <pty.h>
#include <unistd.h>

using namespace mlir::par;

namespace {

/// Standard error as another file, until the end of the scope.
class ErrorTo {
public:
  explicit ErrorTo(int file) : before(dup(STDERR_FILENO)) { dup2(file, STDERR_FILENO); }
  ~ErrorTo() {
    dup2(before, STDERR_FILENO);
    close(before);
  }

private:
  int before;
};

/// Reads until a text has come, however long that takes.
std::string readUntil(int file, const std::string &end) {
  std::string text;
  char letter;
  while (text.find(end) == std::string::npos && read(file, &letter, 1) == 1)
    text += letter;
  return text;
}

// It is written again and again over itself, no wider than the terminal, and gone at the end.
TEST(StatusLine, IsWrittenAnewOnATerminal) {
  int terminal, other;
  winsize size = {};
  size.ws_row = 10, size.ws_col = 20;
  ASSERT_EQ(openpty(&terminal, &other, nullptr, nullptr, &size), 0);
  std::atomic<int> calls = 0;
  std::string shown;
  {
    ErrorTo error(other);
    StatusLine line([&] { return "call " + std::to_string(++calls) + " of a long line of text"; });
    shown = readUntil(terminal, "call 2");
  }
  EXPECT_EQ(shown, "\r\033[Kcall 1 of a long li\r\033[Kcall 2");
  EXPECT_NE(readUntil(terminal, "\r\033[K").find("\r\033[K"), std::string::npos);
  close(terminal);
  close(other);
}

// A pipe gets nothing, and nobody is asked.
TEST(StatusLine, IsNoneInAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<int> calls = 0;
  {
    ErrorTo error(ends[1]);
    StatusLine line([&] {
      ++calls;
      return std::string("text");
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  }
  EXPECT_EQ(calls, 0);
  close(ends[1]);
  char letter;
  EXPECT_EQ(read(ends[0], &letter, 1), 0);
  close(ends[0]);
}

} // namespace
