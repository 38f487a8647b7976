#include "cpu/Context.h"
#include "flags/Flags.h"
#include "measure/Measure.h"
#include "par/io/Files.h"

#include <cstdio>
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
  try {
    std::string text = toJson(measureMachine(showProgress));
    endProgress();
    if (io::Status written = io::writeFile(output, text); written.ok())
      return 0;
    else
      std::fprintf(stderr, "error: %s\n", written.message().c_str());
  } catch (const std::exception &error) {
    endProgress();
    std::fprintf(stderr, "error: measuring this machine: %s\n", error.what());
  }
  return 1;
}

} // namespace par::measure
