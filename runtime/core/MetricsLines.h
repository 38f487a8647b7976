/// A line of a metrics file for a step and for an evaluation: JSON (tools' contract, item 11) or CSV.
#ifndef PAR_CORE_METRICSLINES_H
#define PAR_CORE_METRICSLINES_H

#include "core/Reports.h"

#include <optional>

namespace par::rt {

enum class MetricsFormat { json, csv };

/// CSV for names that end with ".csv".
MetricsFormat metricsFormatOf(const std::string &path);

/// The line without its end. In JSON a number that is not finite is the string "nan", "inf" or "-inf"; in CSV
/// it is that word, and `sent_bytes` is the sum over all kinds.
std::string metricsLine(MetricsFormat format, const StepReport &report);
std::string metricsLine(MetricsFormat format, const EvaluationReport &report);

/// What the file begins with, its end of line included: the names of CSV's columns, nothing in JSON.
std::string metricsHeader(MetricsFormat format);

/// The step that a line of a log is about; none for a header and for what is no line of metrics.
std::optional<int64_t> stepOfLine(MetricsFormat format, const char *line);

/// Whether a line without its end is one of a step or an evaluation, or may be the beginning of one.
bool isMetricsLine(MetricsFormat format, const std::string &line);
bool mayBecomeMetricsLine(MetricsFormat format, const std::string &line);

} // namespace par::rt
#endif
