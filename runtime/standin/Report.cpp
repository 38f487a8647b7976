#include "standin/Report.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <unistd.h>

namespace par::standin {

namespace {
struct Findings {
  std::mutex mutex;
  std::set<std::string> known;
  std::string lines;
  /// A run with findings does not pass.
  ~Findings() {
    if (lines.empty())
      return;
    std::fflush(nullptr);
    _exit(86);
  }
};
} // namespace

static Findings &all() {
  static Findings findings;
  return findings;
}

void report(const std::string &line) {
  Findings &findings = all();
  std::lock_guard<std::mutex> lock(findings.mutex);
  if (!findings.known.insert(line).second)
    return;
  findings.lines += line + "\n";
  std::fprintf(stderr, "stand-in: %s\n", line.c_str());
}

std::string findings() {
  Findings &findings = all();
  std::lock_guard<std::mutex> lock(findings.mutex);
  return findings.lines;
}

void forgetFindings() {
  Findings &findings = all();
  std::lock_guard<std::mutex> lock(findings.mutex);
  findings.known.clear();
  findings.lines.clear();
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace par::standin
