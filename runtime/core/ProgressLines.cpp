#include "core/ProgressLines.h"

#include "core/Console.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace par::rt {

std::string formatDuration(double seconds) {
  auto whole = int64_t(std::max(seconds, 0.0));
  char text[48];
  if (whole < 3600)
    std::snprintf(text, sizeof(text), "%d:%02d", int(whole / 60), int(whole % 60));
  else
    std::snprintf(text, sizeof(text), "%lld:%02d:%02d", static_cast<long long>(whole / 3600),
                  int(whole / 60 % 60), int(whole % 60));
  return text;
}

void appendBar(double share, int columns, std::string &line) {
  int inner = std::min(columns - 2, 30);
  if (inner < 4)
    return;
  auto done = size_t(std::clamp(share, 0.0, 1.0) * inner);
  line.append(1, '[').append(done, '#').append(size_t(inner) - done, '-').append(1, ']');
}

bool ProgressRhythm::isDue(int64_t step, bool last, std::chrono::nanoseconds sinceLine) const {
  if (every)
    return last || step % every == 0;
  return last || step == first + 1 ||
         sinceLine >= (showsBar ? std::chrono::milliseconds(100) : std::chrono::seconds(5));
}

ProgressPrinter::ProgressPrinter(int64_t first, int64_t steps, int64_t every)
    : rhythm{first, every, every == 0 && barColumns() > 0}, steps(steps) {
  line.reserve(mostText), text.reserve(mostText);
}

/// What four digits show as nothing has no sign.
static double unsignedZero(double value) { return std::fabs(value) < 5e-5 ? 0 : value; }

void ProgressPrinter::describe(const StepReport &report) {
  char part[200];
  text.clear();
  if (!report.isEmulated) {
    std::snprintf(part, sizeof(part), "loss %.4f  ", unsignedZero(report.loss));
    text += part;
    for (const auto &[name, value] : report.losses) {
      std::snprintf(part, sizeof(part), " %.4f  ", unsignedZero(value));
      text.append(name).append(part);
    }
    std::snprintf(part, sizeof(part), "grad_norm %.4f  ", double(report.gradNorm));
    text += part;
  }
  std::snprintf(part, sizeof(part), "lr %.3g  %.0f %s/s  %lld %s  ", report.lr,
                double(std::exchange(tokens, 0)) / std::exchange(seconds, 0), report.unit,
                static_cast<long long>(report.tokensSeen), report.unit);
  double elapsed = std::chrono::duration<double>(Clock::now() - begun).count();
  double left = elapsed / double(report.step - rhythm.first) * double(steps - report.step);
  text.append(part).append(formatDuration(elapsed)).append(" elapsed, ");
  text.append(formatDuration(left)).append(" left");
}

void ProgressPrinter::print(const StepReport &report, bool last) {
  tokens += report.tokens, seconds += report.seconds;
  if (!rhythm.isDue(report.step, last, Clock::now() - printed))
    return;
  printed = Clock::now();
  char place[64];
  std::snprintf(place, sizeof(place), "step %lld/%lld  ", static_cast<long long>(report.step),
                static_cast<long long>(steps));
  describe(report);
  line = place;
  if (!rhythm.showsBar || last) {
    line.append(text).append("\n");
    return printProgress(line);
  }
  auto columns = size_t(barColumns());
  size_t room = columns - std::min(columns, line.size() + text.size() + 3), before = line.size();
  appendBar(double(report.step) / double(steps), int(room), line);
  line.append(line.size() > before ? "  " : "").append(text);
  printBar(std::string_view(line).substr(0, columns - 1));
}

} // namespace par::rt
