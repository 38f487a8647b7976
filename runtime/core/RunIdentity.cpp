#include "core/RunIdentity.h"

#include "par/io/Files.h"

#include <climits>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace par::rt {

static const char unknown[] = "unknown";

static std::string thisMachine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char space[64] = "";
  ssize_t length = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
  return boot.empty() || length <= 0 ? unknown : boot + "/" + std::string(space, size_t(length));
}

/// When a process began; -1 when there is none of that number.
static int64_t startOf(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  size_t name = text.rfind(')'); // a program's name may hold anything
  if (name == std::string::npos)
    return -1;
  std::istringstream fields(text.substr(name + 1));
  std::string field;
  for (int number = 3; number < 22; ++number) // proc(5): starttime is the 22nd
    fields >> field;
  int64_t ticks = -1;
  fields >> ticks;
  return ticks;
}

RunIdentity RunIdentity::own() {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof(host) - 1);
  return {io::randomName(), host, thisMachine(), getpid(), startOf(getpid())};
}

std::string RunIdentity::text() const {
  return "par run " + run + "\nhost " + host + "\nmachine " + machine + "\nprocess " + std::to_string(pid) +
         " since " + std::to_string(started) + "\n";
}

bool RunIdentity::read(const std::string &text, RunIdentity &identity) {
  char run[17] = "", host[256] = "", machine[256] = "";
  long long pid = 0, started = 0;
  int used = 0;
  if (std::sscanf(text.c_str(),
                  "par run %16[0-9a-f]\nhost %255[^\n]\nmachine %255[^\n]\nprocess %lld since %lld\n%n", run,
                  host, machine, &pid, &started, &used) != 5)
    return false;
  identity = {run, host, machine, pid, started};
  return size_t(used) == text.size() && identity.text() == text;
}

bool RunIdentity::isOnThisMachine() const { return machine != unknown && machine == thisMachine(); }

bool RunIdentity::isAlive() const { return started >= 0 && startOf(pid) == started; }

std::string RunIdentity::describe() const {
  return "a run on " + host + " (process " + std::to_string(pid) + ")";
}

} // namespace par::rt
