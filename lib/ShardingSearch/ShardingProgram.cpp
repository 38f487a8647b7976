//===- ShardingProgram.cpp - a choice of layouts as an integer program ----------------------------------===//
#include "ShardingProgram.h"

using namespace mlir;
using namespace mlir::par;

ShardingProgram::ShardingProgram(const ShardingProblem &problem, const ShardingCosts &costs)
    : problem(problem), costs(costs) {
  addGroups();
  addOps();
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (const Access &access : problem.ops[op].accesses)
      addAccess(op, access);
  shareChanges();
}

//===----------------------------------------------------------------------===//
// What is chosen
//===----------------------------------------------------------------------===//

void ShardingProgram::chooseOne(ArrayRef<int> columns) {
  IntegerProgram::Terms terms;
  for (int column : columns)
    terms.emplace_back(column, 1);
  program.addRow(std::move(terms), 1, 1);
}

void ShardingProgram::addGroups() {
  for (const TensorGroup &group : problem.groups) {
    SmallVector<int> &columns = layoutColumns.emplace_back();
    if (group.layouts.size() == 1) {
      fixedSeconds += costs.getUpdate(group, group.layouts[0]);
      fixedBytes += costs.getHeldBytes(group, group.layouts[0]);
      continue;
    }
    for (Layout layout : group.layouts)
      columns.push_back(addChoice(costs.getUpdate(group, layout)));
    chooseOne(columns);
  }
}

void ShardingProgram::addOps() {
  for (const OpChoice &op : problem.ops) {
    SmallVector<int> &columns = alternativeColumns.emplace_back();
    if (op.factors.size() == 1) {
      fixedSeconds += costs.getWork(op, 0);
      continue;
    }
    for (size_t alternative = 0; alternative < op.factors.size(); ++alternative)
      columns.push_back(addChoice(costs.getWork(op, alternative)));
    chooseOne(columns);
  }
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Columns of the alternatives by which the op takes a value in one way.
ShardingProgram::Columns ShardingProgram::findOp(size_t op, const Access &access, Layout accessed) const {
  Columns columns;
  for (auto [alternative, column] : llvm::enumerate(alternativeColumns[op]))
    if (access.layouts[alternative] == accessed)
      columns.push_back(column);
  return columns;
}

/// Where one side has no choice, the other one says whether the pair is chosen.
ShardingProgram::Columns ShardingProgram::addPair(size_t op, const Access &access, Layout accessed,
                                                  size_t layout) {
  unsigned group = problem.values[access.value].group;
  bool isAllowed = isConsistent(problem.ops[op], access, problem.groups[group], accessed,
                                problem.groups[group].layouts[layout]);
  bool isOpFixed = llvm::all_equal(access.layouts), isGroupFixed = layoutColumns[group].empty();
  Columns columns;
  if (isGroupFixed)
    columns = findOp(op, access, accessed);
  else if (isOpFixed)
    columns = {layoutColumns[group][layout]};
  else if (isAllowed)
    return {program.addColumn(0, /*isInteger=*/false)};
  if (!isAllowed)
    for (int column : columns)
      program.columns[static_cast<size_t>(column)].most = 0;
  return columns;
}

/// Both sides choose: the pairs of one side's choice add up to it.
void ShardingProgram::sumPairs(size_t op, const Access &access, ArrayRef<Layout> accessed,
                               const std::map<std::pair<Layout, size_t>, Columns> &pairs) {
  auto addSum = [&](llvm::function_ref<bool(Layout, size_t)> isOf, ArrayRef<int> choice) {
    IntegerProgram::Terms terms;
    for (auto &[pair, columns] : pairs)
      if (isOf(pair.first, pair.second))
        for (int column : columns)
          terms.emplace_back(column, 1);
    for (int column : choice)
      terms.emplace_back(column, -1);
    program.addRow(std::move(terms), 0, 0);
  };
  for (Layout each : accessed)
    addSum([&](Layout of, size_t) { return of == each; }, findOp(op, access, each));
  for (auto [number, column] : llvm::enumerate(layoutColumns[problem.values[access.value].group]))
    addSum([number = number](Layout, size_t of) { return of == number; }, column);
}

void ShardingProgram::addAccess(size_t op, const Access &access) {
  const TensorGroup &group = problem.groups[problem.values[access.value].group];
  SmallVector<Layout> accessed(access.layouts);
  llvm::sort(accessed);
  accessed.erase(llvm::unique(accessed), accessed.end());
  if (!access.isResult)
    readers[access.value].push_back(&access);
  std::map<std::pair<Layout, size_t>, Columns> pairs;
  for (Layout each : accessed)
    for (size_t layout = 0; layout < group.layouts.size(); ++layout) {
      Columns columns = addPair(op, access, each, layout);
      addCosts(access, each, group.layouts[layout], columns);
      pairs[{each, layout}] = std::move(columns);
    }
  if (accessed.size() > 1 && group.layouts.size() > 1)
    sumPairs(op, access, accessed, pairs);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

void ShardingProgram::addCost(const Columns &columns, double cost) {
  for (int column : columns)
    program.columns[static_cast<size_t>(column)].cost += cost;
}

/// A result is brought into the layout of its group, an operand out of it; gradients go the other way.
void ShardingProgram::addCosts(const Access &access, Layout accessed, Layout layout, const Columns &columns) {
  const TensorValue &value = problem.values[access.value];
  auto add = [&](bool isBackward, Layout from, Layout to) {
    if (costs.getTransfer(value, from, to) > 0)
      llvm::append_range(changes[{access.value, isBackward, from, to}][&access], columns);
  };
  Layout read = getReadLayout(accessed);
  if (access.isResult) {
    addCost(columns, value.weight * costs.getTransfer(value, accessed, layout));
    if (value.isActive)
      addCost(columns, value.weight * costs.getTransfer(value, layout, read));
    return;
  }
  add(/*isBackward=*/false, layout, read);
  if (value.isActive)
    add(/*isBackward=*/true, accessed, layout);
}

void ShardingProgram::shareChanges() {
  for (auto &[change, askers] : changes) {
    auto [number, isBackward, from, to] = change;
    const TensorValue &value = problem.values[number];
    double cost = value.weight * costs.getTransfer(value, from, to);
    if (from == kPartial)
      payForSums(number, askers, cost);
    else
      payOnce(askers, cost);
  }
}

/// What one operand alone asks for costs its pairs; of what several ask for, a column says whether any does.
void ShardingProgram::payOnce(const Askers &askers, double cost) {
  if (askers.size() == 1)
    return addCost(askers.begin()->second, cost);
  int any = program.addColumn(cost, /*isInteger=*/false);
  for (auto &[access, columns] : askers) {
    IntegerProgram::Terms terms = {{any, 1}};
    for (int column : columns)
      terms.emplace_back(column, -1);
    program.addRow(std::move(terms), 0, IntegerProgram::kUnbounded);
  }
}

/// A gradient is added up from the last reader to the first. Partial terms are completed together as long as
/// no complete one is among them, and behind that one by one.
void ShardingProgram::payForSums(unsigned value, const Askers &askers, double cost) {
  for (auto &[access, columns] : askers)
    addCost(columns, cost);
  // Whether all readers so far give partial terms: the sum of these columns.
  Columns before;
  bool isFirst = !problem.values[value].isHandedOn;
  for (const Access *reader : llvm::reverse(readers[value])) {
    auto asker = askers.find(reader);
    if (asker == askers.end() || (!isFirst && before.empty()))
      return;
    if (isFirst) {
      before = asker->second;
      isFirst = false;
      continue;
    }
    int together = program.addColumn(-cost, /*isInteger=*/false);
    for (const Columns &bound : {before, asker->second}) {
      IntegerProgram::Terms terms = {{together, -1}};
      for (int column : bound)
        terms.emplace_back(column, 1);
      program.addRow(std::move(terms), 0, IntegerProgram::kUnbounded);
    }
    before = {together};
  }
}

//===----------------------------------------------------------------------===//
// Programs and answers
//===----------------------------------------------------------------------===//

IntegerProgram ShardingProgram::makeFastest(double mostBytes) const {
  IntegerProgram made = program;
  IntegerProgram::Terms held;
  for (auto [group, columns] : llvm::zip(problem.groups, layoutColumns))
    for (auto [layout, column] : llvm::zip(group.layouts, columns))
      if (double bytes = costs.getHeldBytes(group, layout))
        held.emplace_back(column, bytes / mostBytes);
  made.addRow(std::move(held), 0, 1 - fixedBytes / mostBytes);
  return made;
}

IntegerProgram ShardingProgram::makeSmallest() const {
  IntegerProgram made = program;
  for (IntegerProgram::Column &column : made.columns)
    column.cost = 0;
  for (auto [group, columns] : llvm::zip(problem.groups, layoutColumns))
    for (auto [layout, column] : llvm::zip(group.layouts, columns))
      made.columns[static_cast<size_t>(column)].cost = costs.getHeldBytes(group, layout);
  return made;
}

static size_t findChosen(ArrayRef<int> columns, const std::vector<double> &values) {
  for (size_t number = 0; number < columns.size(); ++number)
    if (values[static_cast<size_t>(columns[number])] > 0.5)
      return number;
  return 0;
}

Layout ShardingProgram::getLayout(const std::vector<double> &values, size_t group) const {
  return problem.groups[group].layouts[findChosen(layoutColumns[group], values)];
}

size_t ShardingProgram::getAlternative(const std::vector<double> &values, size_t op) const {
  return findChosen(alternativeColumns[op], values);
}

double ShardingProgram::getHeldBytes(const std::vector<double> &values) const {
  double bytes = 0;
  for (size_t group = 0; group < problem.groups.size(); ++group)
    bytes += costs.getHeldBytes(problem.groups[group], getLayout(values, group));
  return bytes;
}
