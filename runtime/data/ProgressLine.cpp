#include "data/ProgressLine.h"

#include <cstdio>
#include <unistd.h>

namespace par::data {

ProgressLine::ProgressLine(std::string name) : name(std::move(name)), terminal(isatty(2)) {}

ProgressLine::~ProgressLine() {
  if (shown)
    std::fprintf(stderr, "\r\033[K");
}

double ProgressLine::seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

void ProgressLine::show(uint64_t done, uint64_t total) {
  Clock::time_point now = Clock::now();
  if (!terminal || now - last < std::chrono::milliseconds(200))
    return;
  last = now, shown = true;
  double percent = total ? 100.0 * double(done) / double(total) : 100.0;
  std::fprintf(stderr, "\r\033[K%s: %.0f %%, %.1f MB/s", name.c_str(), percent,
               double(done) / 1e6 / seconds());
  std::fflush(stderr);
}

} // namespace par::data
