/// --profile: where a step's time goes, by class of work, beside what the machine could do.
#ifndef PAR_CORE_PROFILE_H
#define PAR_CORE_PROFILE_H

#include "core/Manifest.h"
#include "device/Device.h"

#include <chrono>
#include <string>
#include <vector>

namespace par::rt {

/// The clock of one rank. Between begin and end all time belongs to some class; nothing is allocated.
class Profile {
public:
  using Clock = std::chrono::steady_clock;
  /// Of rank 0.
  explicit Profile(const Manifest &manifest);

  /// A step, whose inputs are written first; pairs that attention has computed before.
  void begin(const device::AttentionPairs &before);
  /// What is done from `at` on.
  void work(int32_t number, Clock::time_point at) {
    enter(number >= 0 && size_t(number) < groupOf.size() ? groupOf[size_t(number)] : other, at);
  }
  void message(Clock::time_point at) { enter(messages, at); }
  void sum(Clock::time_point at) { enter(sums, at); }
  void rest(Clock::time_point at) { enter(other, at); }
  void end(const device::AttentionPairs &pairs);

  /// The step of median duration among the last `kept`, without the first of the run where there are others:
  /// a row per class, the longest first; then the pairs of a query and a key that attention computed, the
  /// mean of all steps. Empty before the first step.
  std::string table(const device::Rates &rates, int threads) const;

private:
  static constexpr size_t kept = 1000;
  static constexpr size_t inputs = 0, other = 1, messages = 2, sums = 3;

  struct Group {
    std::string name;
    double flops = 0, bytes = 0; ///< of a step
    int64_t calls = 0;
    std::vector<std::pair<double, double>> parts; ///< flops and bytes of a step by entry of the work list
  };

  void enter(size_t group, Clock::time_point at);
  void countMessages(const Program &program);
  void countSums(const Manifest &manifest, const Program &program);
  size_t groupNamed(const std::string &name);
  std::vector<double> medianStep(size_t &steps) const;
  static double idealSeconds(const Group &group, const device::Rates &rates);
  std::string pairsLine() const;

  std::vector<Group> groups;
  std::vector<size_t> groupOf; ///< by number of work
  std::vector<double> seconds; ///< of the present step, by group
  std::vector<std::vector<double>> steps;
  size_t done = 0;                           ///< steps
  device::AttentionPairs pairsBefore, pairs; ///< before this step, and of all
  size_t current = inputs;
  Clock::time_point since;
};

} // namespace par::rt
#endif
