//===- KernelGroups.cpp - which ops of a function become one kernel -------------------------------------===//
#include "KernelGroups.h"
#include "mlir/IR/Builders.h"
#include "par/Dialect/Par/IR/Par.h"
#include <set>

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

bool KernelGroups::isElementwise(Operation *op) const {
  OpClass opClass = getOpClass(op);
  return opClass == OpClass::Elementwise || (joinsPlaced && opClass == OpClass::Placed);
}

std::optional<ArrayRef<int64_t>> KernelGroups::getShape(Operation *op) const {
  if (!isElementwise(op) && getOpClass(op) != OpClass::Composite)
    return std::nullopt;
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

int64_t KernelGroups::create(ArrayRef<Operation *> ops) {
  int64_t number = groups.size();
  groups.emplace_back();
  parents.push_back(number);
  for (Operation *op : ops)
    add(number, op);
  return number;
}

void KernelGroups::add(int64_t number, Operation *op) {
  Group &group = groups[number];
  auto shape = getShape(op);
  if (group.members.empty())
    group.shape = shape;
  else if (group.shape != shape)
    group.shape = std::nullopt;
  group.members.push_back(op);
  numbers[op] = number;
}

int64_t KernelGroups::findRoot(int64_t number) const {
  while (parents[number] != number)
    number = parents[number] = parents[parents[number]];
  return number;
}

std::optional<int64_t> KernelGroups::find(Operation *op) const {
  auto found = numbers.find(op);
  return found == numbers.end() ? std::nullopt : std::optional(findRoot(found->second));
}

void KernelGroups::number(StringRef attribute) const {
  OpBuilder builder(block.getParentOp()->getContext());
  for (auto &[op, number] : numbers)
    op->setAttr(attribute, builder.getI64IntegerAttr(findRoot(number)));
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

Operation *KernelGroups::getUnit(Operation *op) const {
  while (belongsToUser(op))
    op = *op->getUsers().begin();
  std::optional<int64_t> number = find(op);
  return number ? groups[*number].members.front() : op;
}

ArrayRef<Operation *> KernelGroups::getOps(Operation *const &unit) const {
  std::optional<int64_t> number = find(unit);
  return number ? ArrayRef(groups[*number].members) : ArrayRef(unit);
}

/// Units that the operands of an op and of the clones that belong to it come from.
void KernelGroups::forEachProducer(Operation *op, Use use) const {
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      belongsToUser(producer) ? forEachProducer(producer, use) : use(getUnit(producer));
}

void KernelGroups::forEachUser(Operation *op, Use use) const {
  for (Operation *user : op->getUsers())
    use(getUnit(user));
}

//===----------------------------------------------------------------------===//
// Ways between units
//===----------------------------------------------------------------------===//

/// The least that a unit's producers, other than `without`, allow.
int64_t KernelGroups::findLevel(Operation *unit, Operation *without) const {
  int64_t level = 0;
  for (Operation *op : getOps(unit))
    forEachProducer(op, [&](Operation *producer) {
      if (producer != unit && producer != without)
        level = std::max(level, levels.lookup(producer) + 1);
    });
  return level;
}

/// Members of a unit may stand far apart in the block: one walk is not always enough.
void KernelGroups::findLevels() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation &op : block) {
      if (belongsToUser(&op))
        continue;
      Operation *unit = getUnit(&op);
      int64_t level = levels[unit], least = level;
      forEachProducer(&op, [&](Operation *producer) {
        if (producer != unit)
          least = std::max(least, levels[producer] + 1);
      });
      levels[unit] = least;
      changed |= least != level;
    }
  }
}

void KernelGroups::raise(Operation *unit, int64_t level) {
  SmallVector<std::pair<Operation *, int64_t>> work{{unit, level}};
  while (!work.empty()) {
    auto [next, least] = work.pop_back_val();
    int64_t &own = levels[next];
    if (own >= least)
      continue;
    own = least;
    for (Operation *op : getOps(next))
      forEachUser(op, [&, next = next, least = least](Operation *user) {
        if (user != next)
          work.push_back({user, least + 1});
      });
  }
}

void KernelGroups::merge(int64_t from, int64_t into) {
  Group &source = groups[from], &target = groups[into];
  if (!levels.empty()) {
    // The one that reads the other comes down to it, so that what reads the sum of a long chain need not
    // rise.
    Operation *low = source.members.front(), *high = target.members.front();
    if (levels.lookup(low) > levels.lookup(high))
      std::swap(low, high);
    raise(low, findLevel(high, low));
    levels[target.members.front()] = levels.lookup(low);
  }
  if (source.shape != target.shape)
    target.shape = std::nullopt;
  target.members.append(source.members);
  source.members.clear();
  parents[from] = into;
}

bool KernelGroups::isBetween(int64_t a, int64_t b) {
  if (levels.empty())
    findLevels();
  Operation *low = groups[a].members.front(), *high = groups[b].members.front();
  if (levels.lookup(low) > levels.lookup(high))
    std::swap(low, high);
  return reaches(low, high);
}

/// Straight from one unit to the other is no way around. Searched from where fewer ways begin.
bool KernelGroups::reaches(Operation *source, Operation *target) const {
  int64_t reads = 0, uses = 0;
  for (Operation *op : getOps(target))
    reads += op->getNumOperands();
  for (Operation *op : getOps(source))
    uses += std::distance(op->use_begin(), op->use_end());
  bool isForward = uses < reads;
  Operation *begin = isForward ? source : target, *end = isForward ? target : source;
  int64_t limit = levels.lookup(end);
  llvm::DenseSet<Operation *> visited;
  SmallVector<Operation *> work;
  auto visit = [&](Operation *unit) {
    auto follow = [&](Operation *next) {
      bool isDirect = next == begin || (unit == begin && next == end);
      int64_t level = levels.lookup(next);
      if (!isDirect && (next == end || (isForward ? level < limit : level > limit)) &&
          visited.insert(next).second)
        work.push_back(next);
    };
    for (Operation *op : getOps(unit))
      isForward ? forEachUser(op, follow) : forEachProducer(op, follow);
  };
  for (visit(begin); !work.empty(); visit(work.pop_back_val()))
    if (work.back() == end)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void KernelGroups::sort() {
  llvm::DenseMap<Operation *, int64_t> position; // of a unit: its last op's
  llvm::MapVector<Operation *, SmallVector<Operation *>> units;
  int64_t count = 0;
  for (Operation &op : block.without_terminator()) {
    Operation *unit = getUnit(&op);
    units[unit].push_back(&op);
    position[unit] = count++;
  }
  llvm::DenseMap<Operation *, llvm::SmallSetVector<Operation *, 4>> users;
  llvm::DenseMap<Operation *, int64_t> missing;
  for (auto &[unit, ops] : units)
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (Operation *before = getUnit(producer); before != unit && users[before].insert(unit))
            ++missing[unit];
  std::set<std::pair<int64_t, Operation *>> ready;
  for (auto &[unit, ops] : units)
    if (!missing.lookup(unit))
      ready.insert({position[unit], unit});
  Operation *end = block.getTerminator();
  while (!ready.empty()) {
    Operation *unit = ready.begin()->second;
    ready.erase(ready.begin());
    for (Operation *op : units[unit])
      op->moveBefore(end);
    for (Operation *user : users[unit])
      if (--missing[user] == 0)
        ready.insert({position[user], user});
  }
}
