#include "par/io/Memory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace par::io {

/// The number behind `key` at the start of a line, or -1.
static int64_t readNumber(const std::string &path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    long long number = 0;
    if (line.compare(0, key.size(), key) == 0 && std::sscanf(line.c_str() + key.size(), "%lld", &number) == 1)
      return number;
  }
  return -1;
}

static int64_t leftOnMachine() {
  int64_t kib = readNumber("/proc/meminfo", "MemAvailable:");
  return kib > 0 ? kib * 1024 : INT64_MAX;
}

/// Of the process's control group (version 2) and those around it. Pages of files give way.
static int64_t leftInGroups() {
  std::ifstream file("/proc/self/cgroup");
  std::string group;
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, 3, "0::") == 0)
      group = line.substr(3);
  int64_t left = INT64_MAX;
  for (;; group.erase(group.rfind('/'))) {
    std::string folder = "/sys/fs/cgroup" + group;
    int64_t most = readNumber(folder + "/memory.max", ""), used = readNumber(folder + "/memory.current", "");
    int64_t files = readNumber(folder + "/memory.stat", "file ");
    if (most >= 0 && used >= 0)
      left = std::min(left, std::max<int64_t>(most - used + std::max<int64_t>(files, 0), 0));
    if (group.find('/') == std::string::npos)
      return left;
  }
}

static int64_t leftOfAddresses() {
  rlimit limit;
  int64_t pages = readNumber("/proc/self/statm", "");
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || pages < 0)
    return INT64_MAX;
  return std::max<int64_t>(int64_t(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE), 0);
}

int64_t availableMemory() { return std::min({leftOnMachine(), leftInGroups(), leftOfAddresses()}); }

} // namespace par::io
