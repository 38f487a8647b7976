#include "core/Profile.h"

#include "core/Topology.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace par::rt {

Profile::Profile(const Manifest &manifest) {
  const Program &program = manifest.programOf(0);
  groupNamed("inputs");
  groupNamed("other");
  groupNamed("messages");
  groupNamed("sums over stages");
  countMessages(program);
  countSums(manifest, program);
  for (const Work &work : program.work) {
    groupOf.push_back(groupNamed(work.group));
    Group &group = groups[groupOf.back()];
    double times = double(work.times);
    group.flops += times * work.flops;
    group.bytes += times * work.bytes;
    group.calls += work.times;
    group.parts.push_back({times * work.flops, times * work.bytes});
  }
  seconds.resize(groups.size());
  steps.assign(kept, seconds);
}

/// What is sent and received; a call begins one and waits for it.
void Profile::countMessages(const Program &program) {
  for (const ManifestMessage &message : program.messages) {
    auto times = double(message.times);
    auto bytes = double(std::accumulate(message.bytes.begin(), message.bytes.end(), int64_t(0)));
    groups[messages].bytes += times * bytes;
    groups[messages].calls += message.times;
    groups[messages].parts.push_back({0, times * bytes});
  }
}

/// Collectives that are entries of the schedule: functions have the others in their work.
void Profile::countSums(const Manifest &manifest, const Program &program) {
  for (const ManifestCollective &sum : program.collectives) {
    if (sum.members.groups.empty())
      continue;
    std::vector<int> ranks = rt::groupOf(manifest, 0, sum.members);
    auto member = int(std::find(ranks.begin(), ranks.end(), 0) - ranks.begin());
    double bytes = double(sum.times) * double(comm::ringBytes(sum.what, int(ranks.size()), member));
    groups[sums].bytes += bytes;
    groups[sums].calls += sum.times;
    groups[sums].parts.push_back({0, bytes});
  }
}

size_t Profile::groupNamed(const std::string &name) {
  auto found =
      std::find_if(groups.begin(), groups.end(), [&](const Group &group) { return group.name == name; });
  if (found == groups.end())
    found = groups.insert(groups.end(), Group{name, 0, 0, 0, {}});
  return size_t(found - groups.begin());
}

/// Clocks of devices are compared with the host's at the end of a step only: nothing lasts less than no time.
void Profile::enter(size_t group, Clock::time_point at) {
  at = std::max(at, since);
  seconds[current] += std::chrono::duration<double>(at - since).count();
  current = group;
  since = at;
}

void Profile::begin(const device::AttentionPairs &before) {
  pairsBefore = before;
  std::fill(seconds.begin(), seconds.end(), 0.0);
  current = inputs;
  since = Clock::now();
}

void Profile::end(const device::AttentionPairs &after) {
  enter(other, Clock::now());
  pairs.forward += after.forward - pairsBefore.forward;
  pairs.backward += after.backward - pairsBefore.backward;
  // The first step finds cold memory; it stays only until there is another one.
  size_t place = done == 0 ? 0 : (done - 1) % kept;
  std::copy(seconds.begin(), seconds.end(), steps[place].begin());
  ++done;
}

std::vector<double> Profile::medianStep(size_t &count) const {
  count = std::min(std::max<size_t>(done, 2) - 1, kept);
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < count; ++i)
    order.push_back({std::accumulate(steps[i].begin(), steps[i].end(), 0.0), i});
  std::sort(order.begin(), order.end());
  return steps[order[(count - 1) / 2].second];
}

/// Every piece of work at the roof that is lower for it.
double Profile::idealSeconds(const Group &group, const device::Rates &rates) {
  double ideal = 0;
  for (auto [flops, bytes] : group.parts)
    ideal += std::max(flops / rates.flops, bytes / rates.copyBytes);
  return ideal;
}

/// Nothing where no attention is computed, or nobody counts.
std::string Profile::pairsLine() const {
  if (pairs.forward == 0 && pairs.backward == 0)
    return "";
  char text[200];
  std::snprintf(text, sizeof(text),
                "attention computed %.0f pairs of a query and a key forward and %.0f backward in a step\n",
                double(pairs.forward) / double(done), double(pairs.backward) / double(done));
  return text;
}

static std::string line(const char *format, const std::string &name, double milliseconds, double share) {
  char text[200];
  std::snprintf(text, sizeof(text), format, name.c_str(), milliseconds, share);
  return text;
}

std::string Profile::table(const device::Rates &rates, int threads) const {
  if (done == 0)
    return "";
  size_t count = 0;
  std::vector<double> step = medianStep(count);
  double total = std::accumulate(step.begin(), step.end(), 0.0);
  char text[200];
  std::snprintf(text, sizeof(text),
                "profile of rank 0, the median of %zu steps; this machine: copy %.1f GB/s, matrix product "
                "%.1f GFLOP/s with %d %s\n",
                count, rates.copyBytes / 1e9, rates.flops / 1e9, threads,
                threads == 1 ? "thread" : "threads");
  std::string result = text;
  std::snprintf(text, sizeof(text), "%-40s %10s %6s %7s %9s %9s %9s\n", "class", "ms", "%", "calls", "GB/s",
                "GFLOP/s", "roofline");
  result += text;
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::make_pair(-step[a], a) < std::make_pair(-step[b], b); });
  for (size_t number : order) {
    const Group &group = groups[number];
    if (group.calls == 0 && number != inputs && number != other)
      continue; // of other schedules
    result += line("%-40s %10.4f %6.1f", group.name, step[number] * 1e3, 100 * step[number] / total);
    if (group.calls) {
      std::snprintf(text, sizeof(text), " %7lld %9.2f %9.2f %8.1f%%", static_cast<long long>(group.calls),
                    group.bytes / step[number] / 1e9, group.flops / step[number] / 1e9,
                    100 * idealSeconds(group, rates) / step[number]);
      result += text;
    }
    result += "\n";
  }
  return result + line("%-40s %10.4f %6.1f\n", "step", total * 1e3, 100) + pairsLine();
}

} // namespace par::rt
