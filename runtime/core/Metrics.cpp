#include "core/Metrics.h"

#include "core/Error.h"
#include "par/io/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace par::rt {

MetricsFile::~MetricsFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// The whole lines of a log whose steps are not beyond `last`, behind its header.
static std::string linesUpTo(MetricsFormat format, const std::string &log, int64_t last) {
  std::string lines;
  for (size_t begin = 0, end; (end = log.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (std::optional<int64_t> step = stepOfLine(format, log.c_str() + begin); step && *step <= last)
      lines += log.substr(begin, end + 1 - begin);
  return lines.empty() ? "" : metricsHeader(format) + lines;
}

/// The first whole line that is none of a log of that format, counted from 1; 0: there is none. Of what has
/// no end yet, as a crash may leave it, the first letters count.
static size_t findForeign(MetricsFormat format, const std::string &log) {
  std::string header = metricsHeader(format);
  size_t number = 1;
  for (size_t begin = 0, end; begin < log.size(); begin = end + 1, ++number) {
    end = std::min(log.find('\n', begin), log.size());
    std::string line = log.substr(begin, end - begin);
    bool isHeader = !header.empty() && number == 1 && header.compare(0, line.size(), line) == 0;
    if (!isHeader && !(end < log.size() ? isMetricsLine(format, line) : mayBecomeMetricsLine(format, line)))
      return number;
  }
  return 0;
}

void MetricsFile::prepare(const std::string &wantedPath, int64_t keepSteps) {
  path = wantedPath, format = metricsFormatOf(path);
  if (path.empty())
    return;
  if (MetricsStream::isStream(path)) {
    stream.open(path);
    stream.append(metricsHeader(format));
    return;
  }
  check(io::checkWritable(path));
  std::string log;
  if (keepSteps > 0 && io::isFile(path)) {
    check(io::readFile(path, log));
    if (size_t line = findForeign(format, log))
      throw Error("--metrics " + path + ": line " + std::to_string(line) + " is none that a run writes as " +
                  (format == MetricsFormat::csv ? "CSV" : "JSON") +
                  ", and going on with the log would drop it; give another name, or move the file away");
    kept = linesUpTo(format, log, keepSteps);
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

void MetricsFile::appendLine(const std::string &line) {
  if (stream.isOpen())
    return stream.append(line);
  bool begins = descriptor < 0 && kept.empty();
  if (descriptor < 0)
    start();
  struct stat before;
  bool regular = descriptor >= 0 && ::fstat(descriptor, &before) == 0 && S_ISREG(before.st_mode);
  int error = descriptor < 0 ? errno : writeAll(descriptor, (begins ? metricsHeader(format) : "") + line);
  if (!error)
    return;
  // Half a line would be no JSON: the file ends with the step before.
  bool whole = !regular || ::ftruncate(descriptor, before.st_size) == 0;
  throw Error(path + ": cannot be written: " + std::strerror(error) +
              (whole ? "" : "; its last line is incomplete"));
}

} // namespace par::rt
