#include "cpu/Context.h"
#include "flags/Flags.h"
#include "flags/RunTool.h"
#include "measure/Measure.h"
#include "par/io/Files.h"

#include <cstdio>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace par::measure {

Measurement measureMachine(const std::function<void(const char *)> &report) {
  Measurement measurement;
  measurement.processor = getProcessorName();
  measurement.cores = cpu::availableCores();
  measurement.memoryBytes = getMemoryBytes();
  const std::pair<const char *, void (*)(Measurement &)> parts[] = {
      {"products", measureProducts},       {"kernels", measureKernels},   {"attention", measureAttention},
      {"collectives", measureCollectives}, {"messages", measureMessages}, {"both at once", measureOverlap}};
  for (auto &[name, measure] : parts) {
    report(name);
    measure(measurement);
  }
  return measurement;
}

static void demand(const io::Status &status) {
  if (!status.ok())
    throw std::runtime_error(status.message());
}

static void showProgress(const char *part) {
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r\033[Kmeasuring this machine: %s", part);
}

static void endProgress() {
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
}

int parMeasureMain(int argc, char **argv) {
  std::string output;
  flags::Flags flags("par-measure", "par-measure -o FILE.json",
                     "Measures how fast this machine computes and exchanges what rank programs consist of. "
                     "par-plan --calibrate makes a cluster file of it.");
  flags.text("-o,--output", "FILE.json", "what was measured", output).required().writes();
  if (std::optional<int> exitCode = flags.read(argc, argv, [] { return std::string(); }))
    return *exitCode;
  return flags::runTool([&] {
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
    demand(io::writeFile(output, text));
    return 0;
  });
}

} // namespace par::measure
