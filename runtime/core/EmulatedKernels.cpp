#include "core/EmulatedKernels.h"

#include "core/Error.h"

#include <algorithm>
#include <chrono>
#include <sys/prctl.h>
#include <thread>

namespace par::rt {

/// A row of a profile is named for the kind of the collective and its axes.
static bool isCollective(const Work &work) {
  comm::Kind kind;
  return comm::parseKind(work.group.substr(0, work.group.find(' ')), kind);
}

static double secondsOf(const Work &work, EmulatedRates rates, comm::EmulatedLink link) {
  if (!isCollective(work))
    return std::max(work.flops / rates.flops, work.bytes / rates.bytes);
  return link.isEmulated() && work.bytes > 0 ? link.latency + work.bytes / link.bytesPerSecond : 0;
}

/// A function of the manifest's list takes what it does itself and what it calls. The list is checked: no
/// function calls itself.
static double secondsOf(const Manifest &manifest, size_t function, const std::vector<double> &own,
                        std::vector<double> &known) {
  if (known[function] >= 0)
    return known[function];
  double seconds = own[function];
  for (auto [callee, times] : manifest.functions[function].calls)
    seconds += double(times) * secondsOf(manifest, callee, own, known);
  return known[function] = seconds;
}

EmulatedKernels::EmulatedKernels(const Manifest &manifest, int rank, EmulatedRates rates,
                                 comm::EmulatedLink link) {
  prctl(PR_SET_TIMERSLACK,
        1); // this thread sleeps no longer than it is told to, where the system can do that
  const Program &program = manifest.programOf(rank);
  std::vector<double> own, known(manifest.functions.size(), -1);
  size_t next = 0;
  for (const ManifestFunction &function : manifest.functions) {
    double seconds = 0;
    for (int64_t i = 0; i < function.work; ++i)
      seconds += secondsOf(program.work[next++], rates, link);
    own.push_back(seconds);
  }
  for (const Action &action : program.actions)
    times.push_back(action.function < 0 ? 0 : secondsOf(manifest, size_t(action.function), own, known));
}

void EmulatedKernels::run(int32_t action, RankProgress &place) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto longest = std::chrono::milliseconds(20); // without a sign of life
  auto end = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds(action)));
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    std::this_thread::sleep_until(std::min(end, now + longest));
    place.beat();
  }
}

void checkEmulation(const RunOptions &options, const Manifest &manifest) {
  if (options.kernels.areEmulated() && manifest.functions.empty())
    throw Error("--emulate-kernels: " + manifest.path +
                " does not say what its functions consist of; compile the package again");
}

} // namespace par::rt
