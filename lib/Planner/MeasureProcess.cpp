//===- MeasureProcess.cpp - par-measure as a child ------------------------------------------------------===//
#include "par/Planner/MeasureProcess.h"
#include "par/Support/MakeError.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir::par;
using Clock = std::chrono::steady_clock;

/// Of the child: becomes the tool, with the pipe as standard output.
[[noreturn]] static void becomeTool(const char *tool, const char *rounds, int pipe, pid_t parent) {
  // Whatever ends par-plan, SIGKILL among it, ends what it started.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it was quicker
    _exit(1);
  dup2(pipe, STDOUT_FILENO);
  execl(tool, tool, "--rounds", rounds, "-o", "-", static_cast<char *>(nullptr));
  _exit(127);
}

/// Reads until the pipe is closed; false at the deadline.
static bool readUntil(int pipe, Clock::time_point deadline, std::string &text) {
  char buffer[4096];
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{pipe, POLLIN, 0};
    int found = left > 0 ? poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 1000))) : 0;
    if (left <= 0)
      return false;
    if (found <= 0)
      continue;
    ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR))
      return true;
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
}

llvm::Expected<std::string> mlir::par::runMeasureTool(llvm::StringRef tool, int64_t rounds,
                                                      Clock::time_point deadline) {
  std::string program = tool.str(), number = std::to_string(rounds), text;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return makeError(tool + " cannot be started: " + strerror(errno));
  pid_t parent = getpid(), child = fork();
  if (child == 0)
    becomeTool(program.c_str(), number.c_str(), ends[1], parent);
  std::string problem = child < 0 ? strerror(errno) : "";
  close(ends[1]);
  bool isInTime = child < 0 || readUntil(ends[0], deadline, text);
  close(ends[0]);
  if (child < 0)
    return makeError(tool + " cannot be started: " + problem);
  if (!isInTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (!isInTime)
    return text;
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
    return makeError(tool + (WIFEXITED(status) ? " cannot be started" : " was ended by a signal"));
  if (WEXITSTATUS(status))
    return makeError(tool + " cannot measure this machine");
  return text;
}
