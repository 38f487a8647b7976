//===- ShardingProgram.h - a choice of layouts as an integer program --------------------------*- C++ -*-===//
#ifndef PAR_LIB_SHARDINGSEARCH_SHARDINGPROGRAM_H
#define PAR_LIB_SHARDINGSEARCH_SHARDINGPROGRAM_H

#include "par/ShardingSearch/IntegerProgram.h"
#include "par/ShardingSearch/ShardingCosts.h"
#include <map>
#include <tuple>

namespace mlir::par {

/// A column per layout of a group and per alternative of an op, of each of which one is 1. For every operand
/// and result a pair of what the op takes and how the group lies is chosen (columns that need not be whole
/// numbers: the choices on both sides make them so); pairs have the costs of resharding. What several
/// operands need alike is paid for once.
class ShardingProgram {
public:
  ShardingProgram(const ShardingProblem &problem, const ShardingCosts &costs);

  /// Least seconds, with at most so many bytes of parameters on a rank.
  IntegerProgram makeFastest(double mostBytes) const;
  /// Least bytes of parameters on a rank.
  IntegerProgram makeSmallest() const;

  Layout getLayout(const std::vector<double> &values, size_t group) const;
  size_t getAlternative(const std::vector<double> &values, size_t op) const;
  double getHeldBytes(const std::vector<double> &values) const;

  /// Of what is not to be chosen.
  double getFixedSeconds() const { return fixedSeconds; }
  double getFixedBytes() const { return fixedBytes; }

private:
  /// Columns of which the sum says whether a pair is chosen.
  using Columns = SmallVector<int, 4>;
  /// A change of layout of one value, forward or of its gradient, and who asks for it: by access, the columns
  /// of its pairs that do.
  using Change = std::tuple<unsigned, bool, Layout, Layout>;
  using Askers = std::map<const Access *, Columns>;

  void addGroups();
  void addOps();
  int addChoice(double cost) { return program.addColumn(cost, /*isInteger=*/true); }
  void chooseOne(ArrayRef<int> columns);
  Columns findOp(size_t op, const Access &access, Layout accessed) const;
  void addAccess(size_t op, const Access &access);
  Columns addPair(size_t op, const Access &access, Layout accessed, size_t layout);
  void sumPairs(size_t op, const Access &access, ArrayRef<Layout> accessed,
                const std::map<std::pair<Layout, size_t>, Columns> &pairs);
  void addCost(const Columns &columns, double cost);
  void addCosts(const Access &access, Layout accessed, Layout layout, const Columns &columns);
  void shareChanges();
  void payOnce(const Askers &askers, double cost);
  void payForSums(unsigned value, const Askers &askers, double cost);

  const ShardingProblem &problem;
  const ShardingCosts &costs;
  IntegerProgram program;
  std::vector<SmallVector<int>> layoutColumns;      ///< by group; empty: nothing to choose
  std::vector<SmallVector<int>> alternativeColumns; ///< by op; empty: nothing to choose
  std::map<Change, Askers> changes;
  std::map<unsigned, std::vector<const Access *>> readers; ///< operands by value, in the order of ops
  double fixedSeconds = 0, fixedBytes = 0;
};

} // namespace mlir::par

#endif // PAR_LIB_SHARDINGSEARCH_SHARDINGPROGRAM_H
