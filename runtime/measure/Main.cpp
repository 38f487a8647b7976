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

namespace {
/// A bar over all rounds on a terminal, which is gone when they are; nothing in a pipe.
class Bar {
public:
  explicit Bar(int64_t rounds) : rounds(double(rounds)) {}
  ~Bar() { print("\r\033[K"); }

  void show(int64_t round, const char *part, int done, int parts) const {
    constexpr size_t width = 20;
    auto filled = size_t(double(width) * (double(round) + double(done) / parts) / rounds);
    std::string bar = std::string(filled, '#') + std::string(width - filled, ' ');
    print("\r\033[Kmeasuring this machine: [" + bar + "] " + part);
  }

private:
  void print(const std::string &text) const {
    if (isTerminal)
      std::fputs(text.c_str(), stderr);
  }
  double rounds;
  bool isTerminal = isatty(STDERR_FILENO);
};
} // namespace

using Write = std::function<void(const std::string &text)>;

/// Each round is written when it ends: who asked for several may have no time for all.
static void measureRounds(int64_t rounds, const Write &write) {
  Bar bar(rounds);
  for (int64_t round = 0; round < rounds; ++round) {
    Measurement measured =
        measureMachine([&](const char *part, int done, int parts) { bar.show(round, part, done, parts); });
    write(toJson(measured, /*isLine=*/rounds > 1));
  }
}

static void print(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw std::runtime_error("standard output cannot be written");
}

/// A file has all rounds or none.
static void measureInto(const std::string &output, int64_t rounds) {
  bool isToFile = output != "-";
  if (isToFile)
    demand(io::checkWritable(output)); // measuring takes a while
  std::string all;
  try {
    measureRounds(rounds, [&](const std::string &text) { isToFile ? void(all += text) : print(text); });
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &error) {
    throw std::runtime_error("measuring this machine: " + std::string(error.what()));
  }
  if (isToFile)
    demand(io::writeFile(output, all));
}

int parMeasureMain(int argc, char **argv) {
  io::removeTemporariesOnSignals();
  std::string output;
  int64_t rounds = 1;
  flags::Flags flags("par-measure", "par-measure -o FILE.json",
                     "Measures how fast this machine computes and exchanges what rank programs consist of. "
                     "par-plan --calibrate makes a cluster file of it.");
  flags.text("-o,--output", "FILE.json", "what was measured; - is standard output", output)
      .required()
      .writes();
  flags.integer("--rounds", "N", "measures so often, and writes a line of JSON for each (default: 1)",
                {1, 100}, rounds);
  if (std::optional<int> exitCode = flags.read(argc, argv, [] { return std::string(); }))
    return *exitCode;
  return flags::runTool([&] {
    measureInto(output, rounds);
    return 0;
  });
}

} // namespace par::measure
