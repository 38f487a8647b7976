#include "core/ProgressLines.h"

#include "core/Console.h"

#include <algorithm>
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

std::string formatBar(double share, int columns) {
  int inner = std::min(columns - 2, 30);
  if (inner < 4)
    return "";
  auto done = size_t(std::clamp(share, 0.0, 1.0) * inner);
  return "[" + std::string(done, '#') + std::string(size_t(inner) - done, '-') + "]";
}

ProgressPrinter::ProgressPrinter(int64_t first, int64_t steps, int64_t every)
    : first(first), steps(steps), every(every), showsBar(every == 0 && barColumns() > 0) {}

bool ProgressPrinter::isDue(int64_t step, bool last) const {
  if (every)
    return last || step % every == 0;
  return last || step == first + 1 ||
         Clock::now() - printed >= (showsBar ? std::chrono::milliseconds(100) : std::chrono::seconds(5));
}

std::string ProgressPrinter::describeTimes(int64_t step) const {
  double elapsed = std::chrono::duration<double>(Clock::now() - begun).count();
  double left = elapsed / double(step - first) * double(steps - step);
  return formatDuration(elapsed) + " elapsed, " + formatDuration(left) + " left";
}

std::string ProgressPrinter::describe(const StepReport &report) {
  char computed[80] = "", text[200];
  if (!report.isEmulated)
    std::snprintf(computed, sizeof(computed), "loss %.4f  grad_norm %.4f  ", double(report.loss),
                  double(report.gradNorm));
  std::snprintf(text, sizeof(text), "%slr %.3g  %.0f tokens/s  %lld tokens  ", computed, report.lr,
                double(std::exchange(tokens, 0)) / std::exchange(seconds, 0),
                static_cast<long long>(report.tokensSeen));
  return text + describeTimes(report.step);
}

void ProgressPrinter::print(const StepReport &report, bool last) {
  tokens += report.tokens, seconds += report.seconds;
  if (!isDue(report.step, last))
    return;
  printed = Clock::now();
  std::string place = "step " + std::to_string(report.step) + "/" + std::to_string(steps) + "  ",
              text = describe(report);
  if (!showsBar || last)
    return printProgress(place + text + "\n");
  auto columns = size_t(barColumns());
  size_t room = columns - std::min(columns, place.size() + text.size() + 3);
  std::string bar = formatBar(double(report.step) / double(steps), int(room));
  printBar((place + (bar.empty() ? "" : bar + "  ") + text).substr(0, columns - 1));
}

} // namespace par::rt
