#include "cpu/Context.h"
#include "flags/Flags.h"
#include "flags/RunTool.h"
#include "measure/Measure.h"
#include "par/io/EndingSignals.h"
#include "par/io/Files.h"

#include <cstdio>
#include <iterator>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace par::measure {

Measurement measureMachine(const ReportPart &report) {
  Measurement measurement;
  measurement.processor = getProcessorName();
  measurement.cores = cpu::availableCores();
  measurement.memoryBytes = getMemoryBytes();
  const std::pair<const char *, void (*)(Measurement &)> parts[] = {
      {"products", measureProducts},       {"kernels", measureKernels},   {"attention", measureAttention},
      {"collectives", measureCollectives}, {"messages", measureMessages}, {"both at once", measureOverlap}};
  startMostThreads();
  int done = 0;
  for (auto &[name, measure] : parts) {
    report(name, done++, int(std::size(parts)));
    measure(measurement);
  }
  return measurement;
}

static void demand(const io::Status &status) {
  if (!status.ok())
    throw std::runtime_error(status.message());
}

/// A bar on a terminal; nothing in a pipe.
static void showProgress(const char *part, int done, int all) {
  constexpr int width = 20;
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r\033[Kmeasuring this machine: [%-*.*s] %s", width, width * done / all,
                 "####################", part);
}

static void endProgress() {
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
}

int parMeasureMain(int argc, char **argv) {
  io::removeTemporariesOnSignals();
  std::string output;
  flags::Flags flags("par-measure", "par-measure -o FILE.json",
                     "Measures how fast this machine computes and exchanges what rank programs consist of. "
                     "par-plan --calibrate makes a cluster file of it.");
  flags.text("-o,--output", "FILE.json", "what was measured; - is standard output", output)
      .required()
      .writes();
  if (std::optional<int> exitCode = flags.read(argc, argv, [] { return std::string(); }))
    return *exitCode;
  return flags::runTool([&] {
    bool isToFile = output != "-";
    if (isToFile)
      demand(io::checkWritable(output)); // measuring takes a while
    std::string text;
    try {
      text = toJson(measureMachine(showProgress));
    } catch (const std::bad_alloc &) {
      endProgress();
      throw;
    } catch (const std::exception &error) {
      endProgress();
      throw std::runtime_error("measuring this machine: " + std::string(error.what()));
    }
    endProgress();
    if (isToFile)
      demand(io::writeFile(output, text));
    else if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
      throw std::runtime_error("standard output cannot be written");
    return 0;
  });
}

} // namespace par::measure
