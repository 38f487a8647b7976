#include "core/Metrics.h"

#include "core/Console.h"
#include "core/Error.h"
#include "par/io/Files.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace par::rt {

static std::string number(double value, int shortDigits, int exactDigits) {
  if (std::isnan(value))
    return "\"nan\"";
  if (std::isinf(value))
    return value > 0 ? "\"inf\"" : "\"-inf\"";
  char text[40];
  for (int digits = shortDigits; digits <= exactDigits; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value || digits == exactDigits)
      break;
  }
  return text;
}

static std::string ofFloat(float value) { return number(double(value), 9, 9); }
std::string jsonNumber(double value) { return number(value, 6, 17); }

static std::string list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return "[" + text + "]";
}

/// Which processes ran, on what data.
static std::string identity(const StepReport &report) {
  return ",\"data_hash\":\"" + report.dataHash + "\",\"pids\":" + list(report.pids);
}

static std::string object(const std::map<std::string, uint64_t> &bytes) {
  std::string text;
  for (const auto &[key, value] : bytes)
    text += (text.empty() ? "\"" : ",\"") + key + "\":" + std::to_string(value);
  return "{" + text + "}";
}

std::string metricsLine(const StepReport &report) {
  auto computed = [&](float value) { return report.isEmulated ? "null" : ofFloat(value); };
  std::string line = "{\"step\":" + std::to_string(report.step) + ",\"loss\":" + computed(report.loss) +
                     ",\"grad_norm\":" + computed(report.gradNorm) + ",\"lr\":" + jsonNumber(report.lr) +
                     ",\"tokens_per_second\":" + number(double(report.tokens) / report.seconds, 6, 6) +
                     ",\"step_seconds\":" + number(report.seconds, 6, 6) +
                     ",\"mfu\":null,\"peak_bytes\":" + std::to_string(report.peakBytes);
  if (report.hostPeakBytes)
    line += ",\"host_peak_bytes\":" + std::to_string(report.hostPeakBytes);
  line += ",\"sent_bytes\":" + object(report.sentBytes) + (report.pids.empty() ? "" : identity(report));
  if (!report.peaks.empty())
    line += ",\"peaks\":" + list(report.peaks);
  if (report.hostPeakBytes && !report.hostPeaks.empty())
    line += ",\"host_peaks\":" + list(report.hostPeaks);
  if (!report.mostSentBytes.empty())
    line += ",\"most_sent_bytes\":" + object(report.mostSentBytes);
  return line + "}";
}

MetricsFile::~MetricsFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// The whole lines of a log whose steps are not beyond `last`.
static std::string linesUpTo(const std::string &log, int64_t last) {
  std::string lines;
  for (size_t begin = 0, end; (end = log.find('\n', begin)) != std::string::npos; begin = end + 1) {
    long long step = 0;
    if (std::sscanf(log.c_str() + begin, "{\"step\":%lld,", &step) == 1 && step <= last)
      lines += log.substr(begin, end + 1 - begin);
  }
  return lines;
}

void MetricsFile::prepare(const std::string &wantedPath, int64_t keepSteps) {
  path = wantedPath;
  if (path.empty())
    return;
  check(io::checkWritable(path));
  std::string log;
  if (keepSteps > 0 && io::isFile(path)) {
    check(io::readFile(path, log));
    kept = linesUpTo(log, keepSteps);
  }
}

/// The file changes only when there is something to add.
void MetricsFile::start() {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND;
  if (!kept.empty()) {
    io::OutputFile file;
    check(file.create(path));
    check(file.write(kept.data(), kept.size()));
    check(file.commit());
  } else {
    flags |= O_TRUNC;
  }
  descriptor = ::open(path.c_str(), flags, 0644);
}

/// 0, or the error's number.
static int writeAll(int descriptor, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count > 0)
      done += size_t(count);
    else if (count == 0)
      return ENOSPC;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

void MetricsFile::append(const std::string &line) {
  if (descriptor < 0)
    start();
  struct stat before;
  bool regular = descriptor >= 0 && ::fstat(descriptor, &before) == 0 && S_ISREG(before.st_mode);
  int error = descriptor < 0 ? errno : writeAll(descriptor, line + "\n");
  if (!error)
    return;
  // Half a line would be no JSON: the file ends with the step before.
  bool whole = !regular || ::ftruncate(descriptor, before.st_size) == 0;
  throw Error(path + ": cannot be written: " + std::strerror(error) +
              (whole ? "" : "; its last line is incomplete"));
}

ProgressPrinter::ProgressPrinter(int64_t steps)
    : steps(steps), terminal(isatty(STDOUT_FILENO)), every(std::max<int64_t>(1, (steps + 9) / 10)) {}

/// Ten lines a second are as many as anybody reads.
bool ProgressPrinter::due(int64_t step) const {
  return terminal ? Clock::now() - printed >= std::chrono::milliseconds(100) : step % every == 0;
}

void ProgressPrinter::print(const StepReport &report, bool last) {
  if (report.step != 1 && !last && !due(report.step))
    return;
  printed = Clock::now();
  char computed[80] = "", line[256];
  if (!report.isEmulated)
    std::snprintf(computed, sizeof(computed), "loss %.4f  grad_norm %.4f  ", double(report.loss),
                  double(report.gradNorm));
  std::snprintf(line, sizeof(line), "step %lld/%lld  %slr %.3g  %.0f tokens/s\n",
                static_cast<long long>(report.step), static_cast<long long>(steps), computed, report.lr,
                double(report.tokens) / report.seconds);
  printProgress(line);
}

} // namespace par::rt
