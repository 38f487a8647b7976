//===- CollectiveOrder.cpp - the order of a function in which collectives overlap -----------------------===//
#include "CollectiveOrder.h"
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

void par::startCollective(Operation *collective) {
  OpBuilder builder(collective->getContext());
  builder.setInsertionPointAfter(collective);
  auto wait =
      builder.create<WaitOp>(collective->getLoc(), collective->getResultTypes(), collective->getResults());
  for (auto [result, there] : llvm::zip(collective->getResults(), wait.getResults()))
    result.replaceAllUsesExcept(there, wait);
  collective->setAttr(ParDialect::kStartedAttr, builder.getUnitAttr());
}

static bool isStarted(Operation *op) { return op->hasAttr(ParDialect::kStartedAttr); }
static WaitOp getWait(Operation *collective) { return cast<WaitOp>(*collective->getUsers().begin()); }

CollectiveOrder::CollectiveOrder(Block &block, int64_t prefetchLimit, llvm::function_ref<bool(Value)> isKept)
    : block(block), movable(block), isKept(isKept) {
  for (Operation &op : block)
    if (movable.isAhead(&op))
      ahead.emplace_back(movable.getFirstUse(&op), &op);
  llvm::stable_sort(ahead, llvm::less_first());
  limit = prefetchLimit < 0 ? findLayerBytes() : prefetchLimit;
}

/// The op that makes the last operand of a reduction, but for late ops; null for what was reduced before.
Operation *CollectiveOrder::findMaker(Operation *reduction) const {
  Operation *maker = reduction->getOperands().back().getDefiningOp();
  while (maker && movable.isLate(maker) && !isa<WaitOp>(maker))
    maker = maker->getOperand(0).getDefiningOp();
  return maker && !movable.isLate(maker) ? maker : nullptr;
}

/// The most that gathers for one op bring, or that reductions of what one op has made keep.
int64_t CollectiveOrder::findLayerBytes() const {
  llvm::DenseMap<int64_t, int64_t> gathered;
  llvm::DenseMap<Operation *, int64_t> held;
  int64_t most = 0;
  for (auto [place, gather] : ahead)
    most = std::max(most, gathered[place] += getTensorBytes(gather->getResultTypes()));
  for (Operation &op : block)
    if (Operation *maker = movable.isDeferrable(&op) ? findMaker(&op) : nullptr)
      most = std::max(most, held[maker] += getHeld(&op));
  return most;
}

void CollectiveOrder::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : block) {
    ops.push_back(&op);
    if (isStarted(&op) && isReady(&op))
      ready.push_back(&op);
  }
  beginReady();
  for (Operation *op : ArrayRef<Operation *>(ops).drop_back())
    if (!isStarted(op) && !movable.isLate(op))
      place(op);
  finish();
  for (Operation *op : ops) // what nobody uses
    if (movable.isLate(op) && op->use_empty())
      place(op);
  place(ops.back());
  Operation *exit = order.back();
  for (Operation *op : ArrayRef<Operation *>(order).drop_back())
    op->moveBefore(exit);
}

/// An op that keeps its place among its like, unless a gather has needed it before.
void CollectiveOrder::place(Operation *op) {
  // What the op waits for begins before what others will: the queue is first in, first out.
  beginUsed(movable.getPlace(op));
  beginOperands(op);
  beginAhead(movable.getPlace(op));
  // Behind gathers, which somebody waits for sooner.
  if (isCompute(op))
    beginWaiting();
  need(op);
  beginReady();
}

/// The function returns: nothing may be under way any more.
void CollectiveOrder::finish() {
  do { // what is reduced may be reduced again, over other axes
    beginReady();
    beginWaiting();
    while (!running.empty())
      retireOldest();
  } while (!ready.empty());
}

void CollectiveOrder::emit(Operation *op) {
  order.push_back(op);
  emitted.insert(op);
  for (Operation *user : op->getUsers())
    if (isStarted(user) && !emitted.contains(user) && !llvm::is_contained(ready, user) && isReady(user))
      ready.push_back(user);
  if (isa<WaitOp>(op))
    llvm::erase_if(running,
                   [&](Reduction &other) { return other.collective == cast<WaitOp>(op).getCollective(); });
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

/// Collectives that `op` waits for, through late ops.
void CollectiveOrder::beginOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *maker = operand.get().getDefiningOp();
    if (!maker || emitted.contains(maker))
      continue;
    if (auto wait = dyn_cast<WaitOp>(maker))
      begin(wait.getCollective());
    else if (movable.isLate(maker))
      beginOperands(maker);
  }
}

void CollectiveOrder::needOperands(Operation *op) {
  beginOperands(op);
  for (OpOperand &operand : op->getOpOperands())
    if (Operation *maker = operand.get().getDefiningOp())
      need(maker);
}

void CollectiveOrder::need(Operation *op) {
  if (emitted.contains(op))
    return;
  if (!isa<WaitOp>(op))
    needOperands(op);
  emit(op);
}

bool CollectiveOrder::isReady(Operation *collective) const {
  return !movable.isAhead(collective) && llvm::all_of(collective->getOperands(), [&](Value operand) {
    return !operand.getDefiningOp() || emitted.contains(operand.getDefiningOp());
  });
}

//===----------------------------------------------------------------------===//
// Beginning
//===----------------------------------------------------------------------===//

void CollectiveOrder::begin(Operation *collective) {
  if (emitted.contains(collective))
    return;
  llvm::erase(ready, collective);
  llvm::erase_if(waiting, [&](const Reduction &other) { return other.collective == collective; });
  needOperands(collective);
  emit(collective);
  if (movable.isDeferrable(collective))
    setRunning(collective, getHeld(collective));
}

/// Gathers of arguments up to `place`.
void CollectiveOrder::beginUsed(int64_t place) {
  for (; nextAhead < ahead.size() && ahead[nextAhead].first <= place; ++nextAhead)
    begin(ahead[nextAhead].second);
}

/// Those behind it, as far as the limit allows.
void CollectiveOrder::beginAhead(int64_t place) {
  int64_t bytes = 0;
  for (auto [first, gather] : ArrayRef(ahead).take_front(nextAhead))
    if (first > place)
      bytes += getTensorBytes(gather->getResultTypes());
  for (; nextAhead < ahead.size() && limit > 0; ++nextAhead) {
    Operation *gather = ahead[nextAhead].second;
    int64_t more = getTensorBytes(gather->getResultTypes());
    if (bytes > 0 && bytes + more > limit)
      return;
    bytes += more;
    begin(gather);
  }
}

void CollectiveOrder::beginReady() {
  while (!ready.empty()) {
    Operation *collective = *llvm::min_element(
        ready, [&](Operation *a, Operation *b) { return movable.getPlace(a) < movable.getPlace(b); });
    llvm::erase(ready, collective);
    if (movable.isDeferrable(collective))
      addWaiting(collective);
    else
      begin(collective);
  }
}

//===----------------------------------------------------------------------===//
// Reductions under way
//===----------------------------------------------------------------------===//

/// What a reduction keeps from being freed while it runs.
int64_t CollectiveOrder::getHeld(Operation *collective) const {
  int64_t bytes = 0;
  for (Value operand : collective->getOperands())
    bytes += isKept(operand) ? 0 : getTensorBytes(operand.getType());
  for (Value result : getWait(collective).getResults())
    bytes += isKept(result) ? 0 : getTensorBytes(result.getType());
  return bytes;
}

int64_t CollectiveOrder::getHeldBytes() const {
  int64_t bytes = 0;
  for (const Reduction &each : llvm::concat<const Reduction>(running, waiting))
    bytes += each.held;
  return bytes;
}

void CollectiveOrder::addWaiting(Operation *reduction) {
  int64_t held = getHeld(reduction);
  while (held > 0 && !running.empty() && getHeldBytes() + held > limit)
    retireOldest();
  waiting.push_back({reduction, held});
}

void CollectiveOrder::beginWaiting() {
  while (!waiting.empty())
    begin(waiting.front().collective);
}

void CollectiveOrder::setRunning(Operation *collective, int64_t held) {
  running.push_back({collective, held});
  // No memory to keep anything for others to compute beside.
  if (held > 0 && limit == 0)
    retireOldest();
}

/// Waits, and makes what can be made then, so that what is reduced is freed.
void CollectiveOrder::retireOldest() {
  WaitOp wait = getWait(running.front().collective);
  need(wait); // ends it in `running`, too
  makeUsersOf(wait);
}

void CollectiveOrder::makeUsersOf(Operation *op) {
  SmallVector<Operation *> users(op->getUsers());
  for (Operation *user : llvm::reverse(users)) // first uses come last
    if (!emitted.contains(user) && mayMake(user)) {
      need(user);
      makeUsersOf(user);
    }
}

/// A late op that needs nothing that is not there, but late ops.
bool CollectiveOrder::mayMake(Operation *op) const {
  return movable.isLate(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *maker = operand.getDefiningOp();
           return !maker || emitted.contains(maker) || (!isa<WaitOp>(maker) && mayMake(maker));
         });
}
