//===- BruteForceTest.cpp - what the integer program finds is the least of all choices ------------------===//
#include "Graphs.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

/// Looks at every choice of layouts and alternatives, but for those that cost more already than the least.
class BruteForce {
public:
  BruteForce(const ShardingProblem &problem, const DeviceRates &rates, double mostBytes, double most)
      : problem(problem), costs(problem, rates), mostBytes(mostBytes), least(most),
        layouts(problem.groups.size()) {
    // Groups that no op takes.
    std::vector<bool> taken(problem.groups.size(), false);
    for (const OpChoice &op : problem.ops)
      for (const Access &access : op.accesses)
        taken[problem.values[access.value].group] = true;
    double seconds = 0, bytes = 0;
    for (size_t group = 0; group < taken.size(); ++group)
      if (!taken[group]) {
        seconds += costs.getUpdate(problem.groups[group], kWhole);
        bytes += costs.getHeldBytes(problem.groups[group], kWhole);
      }
    chooseOp(0, seconds, bytes);
  }

  double getLeast() const { return least; }
  double getBytes() const { return bytesOfLeast; }

private:
  /// From the last op to the first, as gradients are added up.
  void chooseOp(size_t done, double seconds, double bytes) {
    if (done == problem.ops.size()) {
      least = seconds;
      bytesOfLeast = bytes;
      return;
    }
    const OpChoice &op = problem.ops[problem.ops.size() - 1 - done];
    for (size_t alternative = 0; alternative < op.factors.size(); ++alternative)
      chooseLayouts(done, op, alternative, 0, seconds + costs.getWork(op, alternative), bytes);
  }

  void chooseLayouts(size_t done, const OpChoice &op, size_t alternative, size_t number, double seconds,
                     double bytes) {
    if (seconds >= least || bytes > mostBytes)
      return;
    if (number == op.accesses.size())
      return chooseOp(done + 1, seconds, bytes);
    const Access &access = op.accesses[op.accesses.size() - 1 - number];
    unsigned index = problem.values[access.value].group;
    const TensorGroup &group = problem.groups[index];
    bool isNew = !layouts[index];
    for (Layout layout : isNew ? group.layouts : SmallVector<Layout>{*layouts[index]}) {
      layouts[index] = layout;
      double here = isNew ? costs.getUpdate(group, layout) : 0;
      double held = isNew ? costs.getHeldBytes(group, layout) : 0;
      if (isConsistent(op, access, group, access.layouts[alternative], layout)) {
        auto [changes, before] = std::make_pair(paid, sums);
        double more = pay(access, access.layouts[alternative], layout);
        chooseLayouts(done, op, alternative, number + 1, seconds + here + more, bytes + held);
        paid = std::move(changes);
        sums = std::move(before);
      }
    }
    if (isNew)
      layouts[index] = std::nullopt;
  }

  /// Seconds of changes of layout that nobody has asked for yet.
  double pay(const Access &access, Layout accessed, Layout layout) {
    const TensorValue &value = problem.values[access.value];
    Layout read = accessed == kPartial ? kWhole : accessed;
    double seconds = 0;
    auto ask = [&](int direction, Layout from, Layout to) {
      if (paid.insert({access.value, direction, from, to}).second)
        seconds += value.weight * costs.getTransfer(value, from, to);
    };
    if (access.isResult)
      ask(0, accessed, layout);
    else
      ask(1, layout, read);
    if (!value.isActive)
      return seconds;
    if (access.isResult)
      ask(2, layout, read);
    else if (accessed != kPartial)
      ask(3, accessed, layout);
    if (!access.isResult)
      seconds += addToGradient(access.value, accessed == kPartial, layout);
    return seconds;
  }

  /// A partial term is completed by itself, unless all before it were partial, too.
  double addToGradient(unsigned number, bool isPartial, Layout layout) {
    const TensorValue &value = problem.values[number];
    auto [sum, isFirst] = sums.try_emplace(number, value.isHandedOn ? false : isPartial);
    bool isPaid = isPartial && sum->second && !(isFirst && !value.isHandedOn);
    sum->second = sum->second && isPartial;
    return isPartial && !isPaid ? value.weight * costs.getTransfer(value, kPartial, layout) : 0;
  }

  using Change = std::tuple<unsigned, int, Layout, Layout>;
  const ShardingProblem &problem;
  ShardingCosts costs;
  double mostBytes, least, bytesOfLeast = 0;
  std::vector<std::optional<Layout>> layouts;
  std::set<Change> paid;
  std::map<unsigned, bool> sums; ///< by value: all terms of its gradient so far are partial
};

/// Of two plans that differ by less, the search may take either.
constexpr double kTolerance = 2e-4;

/// With these rates and this many bytes: the same seconds as of all choices, within the limit.
void compare(const std::string &graph, const DeviceRates &rates, std::optional<int64_t> limit) {
  TestContext context;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(graph, &context);
  ASSERT_TRUE(module);
  FailureOr<ShardingProblem> problem = describeProblem(*module, StringAttr::get(&context, "tp"));
  ASSERT_TRUE(succeeded(problem));
  llvm::Expected<FoundShardings> found = searchShardings(*problem, rates, {limit});
  ASSERT_TRUE(static_cast<bool>(found)) << llvm::toString(found.takeError());
  EXPECT_FALSE(found->isCutOff);
  double most = limit ? double(*limit) : 1.05 * found->leastBytes;
  EXPECT_LE(found->parameterBytes, most);
  BruteForce all(*problem, rates, most, found->seconds * (1 + kTolerance));
  ASSERT_GT(all.getBytes(), 0) << "no choice takes as little as " << found->seconds;
  EXPECT_NEAR(all.getLeast(), found->seconds, kTolerance * found->seconds);
}

constexpr DeviceRates kComputes{1e9, 1e10, 1e9, 1e-7}, kWaits{1e12, 1e12, 1e8, 1e-5},
    kUpdates{1e12, 1e7, 1e9, 1e-7};

TEST(BruteForce, arithmeticMatters) {
  for (int64_t ranks : {2, 3, 4, 6})
    compare(writeOddGraph(ranks), kComputes, 1 << 20);
}

TEST(BruteForce, latencyMatters) {
  for (int64_t ranks : {2, 3, 4})
    compare(writeOddGraph(ranks), kWaits, 1 << 20);
}

TEST(BruteForce, updatesMatter) {
  for (int64_t ranks : {2, 4})
    compare(writeOddGraph(ranks), kUpdates, 1 << 20);
}

/// Gradients of what only split ops read are completed together.
TEST(BruteForce, sumsOfSeveralReaders) {
  for (int64_t ranks : {2, 4})
    for (const DeviceRates &rates : {kComputes, DeviceRates{1e10, 1e9, 1e9, 1e-6}})
      compare(writeOddGraph(ranks, {}, /*isBounded=*/true), rates, 1 << 20);
}

/// From just above the least to all.
TEST(BruteForce, everyLimit) {
  for (int64_t limit : {0, 1400, 1600, 2000, 2600})
    compare(writeOddGraph(2), kWaits, limit ? std::optional<int64_t>(limit) : std::nullopt);
  for (int64_t limit : {0, 900, 1400})
    compare(writeOddGraph(4), kComputes, limit ? std::optional<int64_t>(limit) : std::nullopt);
}

} // namespace
