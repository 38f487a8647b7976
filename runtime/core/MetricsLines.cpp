#include "core/MetricsLines.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace par::rt {

/// The shortest of two lengths that reads back as the same value; `quote` is around words.
static std::string number(double value, int shortDigits, int exactDigits, const char *quote = "\"") {
  if (!std::isfinite(value))
    return quote + std::string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf") + quote;
  char text[40];
  for (int digits = shortDigits; digits <= exactDigits; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value || digits == exactDigits)
      break;
  }
  return text;
}

static std::string ofFloat(float value) { return number(double(value), 9, 9); }
static std::string jsonNumber(double value) { return number(value, 6, 17); }

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

static std::string jsonLine(const StepReport &report) {
  auto computed = [&](float value) { return report.isEmulated ? "null" : ofFloat(value); };
  std::string losses, unit = report.unit;
  for (const auto &[name, value] : report.losses)
    losses += (losses.empty() ? ",\"losses\":{\"" : ",\"") + name + "\":" + computed(value);
  std::string line = "{\"step\":" + std::to_string(report.step) + ",\"loss\":" + computed(report.loss) +
                     losses + (losses.empty() ? "" : "}") + ",\"grad_norm\":" + computed(report.gradNorm) +
                     ",\"lr\":" + jsonNumber(report.lr) + ",\"" + unit +
                     "\":" + std::to_string(report.tokensSeen) + ",\"" + unit +
                     "_per_second\":" + number(double(report.tokens) / report.seconds, 6, 6) +
                     ",\"step_seconds\":" + number(report.seconds, 6, 6) +
                     ",\"mfu\":" + (report.mfu > 0 ? number(report.mfu, 6, 6) : "null") +
                     ",\"peak_bytes\":" + std::to_string(report.peakBytes);
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

static std::string jsonLine(const EvaluationReport &report) {
  return "{\"step\":" + std::to_string(report.step) + ",\"eval_loss\":" + jsonNumber(report.loss) +
         ",\"eval_tokens\":" + std::to_string(report.tokens) +
         ",\"eval_perplexity\":" + number(report.perplexity(), 6, 6) + "}";
}

double EvaluationReport::perplexity() const { return std::exp(loss); }

static constexpr char columns[] = "step,loss,grad_norm,lr,tokens,tokens_per_second,step_seconds,peak_bytes,"
                                  "sent_bytes,eval_loss,eval_tokens,eval_perplexity\n";

static std::string csvNumber(double value) { return number(value, 6, 17, ""); }

static std::string csvLine(const StepReport &report) {
  auto computed = [&](float value) { return report.isEmulated ? "" : number(double(value), 9, 9, ""); };
  uint64_t sent = 0;
  for (const auto &entry : report.sentBytes)
    sent += entry.second;
  std::string line =
      std::to_string(report.step) + "," + computed(report.loss) + "," + computed(report.gradNorm) + "," +
      csvNumber(report.lr) + "," + std::to_string(report.tokensSeen) + "," +
      number(double(report.tokens) / report.seconds, 6, 6, "") + "," + number(report.seconds, 6, 6, "") +
      "," + std::to_string(report.peakBytes) + "," + std::to_string(sent);
  return line + ",,,";
}

static std::string csvLine(const EvaluationReport &report) {
  return std::to_string(report.step) + ",,,,,,,,," + csvNumber(report.loss) + "," +
         std::to_string(report.tokens) + "," + number(report.perplexity(), 6, 6, "");
}

MetricsFormat metricsFormatOf(const std::string &path) {
  static const std::string ending = ".csv";
  std::string last = path.substr(path.size() - std::min(path.size(), ending.size()));
  std::transform(last.begin(), last.end(), last.begin(), [](unsigned char c) { return std::tolower(c); });
  return path.size() > ending.size() && last == ending ? MetricsFormat::csv : MetricsFormat::json;
}

std::string metricsLine(MetricsFormat format, const StepReport &report) {
  return format == MetricsFormat::csv ? csvLine(report) : jsonLine(report);
}

std::string metricsLine(MetricsFormat format, const EvaluationReport &report) {
  return format == MetricsFormat::csv ? csvLine(report) : jsonLine(report);
}

std::string metricsHeader(MetricsFormat format) { return format == MetricsFormat::csv ? columns : ""; }

std::optional<int64_t> stepOfLine(MetricsFormat format, const char *line) {
  long long step = 0;
  const char *pattern = format == MetricsFormat::csv ? "%lld," : "{\"step\":%lld,";
  return std::sscanf(line, pattern, &step) == 1 ? std::optional<int64_t>(step) : std::nullopt;
}

bool isMetricsLine(MetricsFormat format, const std::string &line) {
  if (!stepOfLine(format, line.c_str()))
    return false;
  if (format == MetricsFormat::json)
    return line.back() == '}';
  static const std::string names = columns;
  return std::count(line.begin(), line.end(), ',') == std::count(names.begin(), names.end(), ',');
}

bool mayBecomeMetricsLine(MetricsFormat format, const std::string &line) {
  static const std::string begin = "{\"step\":";
  size_t letters = std::min(line.size(), begin.size());
  return format == MetricsFormat::csv ? isdigit(static_cast<unsigned char>(line[0])) != 0
                                      : line.compare(0, letters, begin, 0, letters) == 0;
}

} // namespace par::rt
