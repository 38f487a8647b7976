//===- SearchShardings.cpp - finds how parameters are best split along one axis -------------------------===//
#include "par/ShardingSearch/SearchShardings.h"
#include "ShardingProgram.h"
#include "par/Support/MakeError.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

/// What the costs of a program's columns add up to when it is solved: tolerances are absolute.
static constexpr double kScale = 1e6;
/// What a choice costs beside its own cost, times its number: of equal answers the one with the first
/// dimensions is taken.
static constexpr double kTieCost = 1e-5;
/// Bytes above the least that a plan may take where no limit is given. Norms and biases need not be split
/// then.
static constexpr double kUsualSlack = 1.05;

/// The program with costs of a size that solvers take well, and one best answer. Gives the factor.
static double scale(IntegerProgram &program) {
  double sum = 0;
  for (const IntegerProgram::Column &column : program.columns)
    sum += std::abs(column.cost);
  double factor = sum > 0 ? kScale / sum : 1;
  int number = 0;
  for (IntegerProgram::Column &column : program.columns) {
    column.cost *= factor;
    if (column.isInteger)
      column.cost += kTieCost * ++number;
  }
  return factor;
}

/// Exactly, as far as branches go: what is refused by it is refused for good.
static llvm::Expected<ProgramAnswer> findSmallest(const ShardingProgram &sharding, int mostNodes) {
  IntegerProgram smallest = sharding.makeSmallest();
  scale(smallest);
  llvm::Expected<ProgramAnswer> answer = solveProgram(smallest, {mostNodes, 0});
  if (answer && !answer->isFeasible)
    return makeError(
        "the shardings that are written on parameters exclude each other; take some of them away");
  return answer;
}

static llvm::Error refuseLimit(const ShardingProblem &problem, double least, int64_t limit) {
  return makeError("parameters take at least " + llvm::Twine(int64_t(std::ceil(least))) +
                   " bytes of each rank over " + problem.axis.getValue() + "=" + llvm::Twine(problem.ranks) +
                   ", but the limit of parameters is " + llvm::Twine(limit) + "; give at least " +
                   llvm::Twine(int64_t(std::ceil(least))) + ", or more ranks");
}

llvm::Expected<FoundShardings> par::searchShardings(const ShardingProblem &problem, const DeviceRates &rates,
                                                    const SearchLimits &limits) {
  ShardingCosts costs(problem, rates);
  ShardingProgram sharding(problem, costs);
  llvm::Expected<ProgramAnswer> smallest = findSmallest(sharding, limits.program.mostNodes);
  if (!smallest)
    return smallest.takeError();
  double least = sharding.getHeldBytes(smallest->values);
  double most = limits.parameterBytes ? double(*limits.parameterBytes) : least * kUsualSlack;
  if (most < least && !smallest->isCutOff)
    return refuseLimit(problem, least, *limits.parameterBytes);
  const IntegerProgram fastest = sharding.makeFastest(std::max(most, 1.0));
  IntegerProgram scaled = fastest;
  double factor = scale(scaled);
  llvm::Expected<ProgramAnswer> answer = solveProgram(scaled, limits.program);
  if (!answer)
    return answer.takeError();
  if (!answer->isFeasible)
    return refuseLimit(problem, least, static_cast<int64_t>(most));
  FoundShardings found;
  for (size_t group = 0; group < problem.groups.size(); ++group)
    found.layouts.push_back(sharding.getLayout(answer->values, group));
  for (size_t op = 0; op < problem.ops.size(); ++op)
    found.alternatives.push_back(sharding.getAlternative(answer->values, op));
  found.seconds = sharding.getFixedSeconds();
  for (auto [column, value] : llvm::zip(fastest.columns, answer->values))
    found.seconds += column.cost * value;
  found.boundSeconds = std::min(found.seconds, answer->bound / factor + sharding.getFixedSeconds());
  found.parameterBytes = sharding.getHeldBytes(answer->values);
  found.leastBytes = least;
  found.isCutOff = answer->isCutOff || smallest->isCutOff;
  return found;
}
