//===- CollectiveOrder.cpp - the order of a function in which collectives overlap -----------------------===//
#include "CollectiveOrder.h"
#include "par/Dialect/Par/IR/Buckets.h"
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

CollectiveOrder::CollectiveOrder(Block &block, OverlapLimits limits, llvm::function_ref<bool(Value)> isKept)
    : block(block), movable(block), limits(limits), isKept(isKept) {
  for (Operation &op : block)
    if (movable.isAhead(&op))
      ahead.emplace_back(movable.getFirstUse(&op), &op);
  llvm::stable_sort(ahead, llvm::less_first());
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
    if (movable.isLate(op) && op->use_empty() && !llvm::is_contained(joined, op))
      place(op);
  place(ops.back());
  Operation *exit = order.back();
  for (Operation *op : ArrayRef<Operation *>(order).drop_back())
    op->moveBefore(exit);
  for (Operation *op : llvm::reverse(joined))
    op->erase();
}

/// An op that keeps its place among its like, unless a gather has needed it before.
void CollectiveOrder::place(Operation *op) {
  // What the op waits for begins before what others will: the queue is first in, first out.
  beginUsed(movable.getPlace(op));
  beginOperands(op);
  beginAhead(movable.getPlace(op));
  // Behind gathers, which somebody waits for sooner.
  if (isCompute(op))
    beginBuckets(/*onlyHeld=*/true);
  need(op);
  beginReady();
}

/// The function returns: nothing may be under way any more.
void CollectiveOrder::finish() {
  do { // what is reduced may be reduced again, over other axes
    beginReady();
    beginBuckets(/*onlyHeld=*/false);
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
                   [&](Running &other) { return other.collective == cast<WaitOp>(op).getCollective(); });
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

/// Collectives that `op` waits for, through late ops. A bucket may begin here, after which others bring its
/// results.
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
  for (size_t number = 0; number < buckets.size(); ++number)
    if (llvm::is_contained(buckets[number].members, collective))
      return beginBucket(number);
  llvm::erase(ready, collective);
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
  for (; nextAhead < ahead.size() && limits.prefetch > 0; ++nextAhead) {
    Operation *gather = ahead[nextAhead].second;
    int64_t more = getTensorBytes(gather->getResultTypes());
    if (bytes > 0 && bytes + more > limits.prefetch)
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
      addToBucket(collective);
    else
      begin(collective);
  }
}

//===----------------------------------------------------------------------===//
// Buckets
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
  for (const Running &other : running)
    bytes += other.held;
  for (const Bucket &bucket : buckets)
    bytes += bucket.held;
  return bytes;
}

void CollectiveOrder::addToBucket(Operation *reduction) {
  int64_t held = getHeld(reduction), bytes = getTensorBytes(reduction->getOperandTypes());
  while (held > 0 && !running.empty() && getHeldBytes() + held > limits.prefetch)
    retireOldest();
  auto fits = [&](const Bucket &bucket) {
    return mayShareBucket(bucket.members.front(), reduction) && bucket.bytes + bytes <= limits.bucket;
  };
  Bucket *bucket = llvm::find_if(buckets, fits);
  if (bucket == buckets.end()) {
    if (held == 0)
      beginAlike(reduction);
    bucket = &buckets.emplace_back();
  }
  bucket->members.push_back(reduction);
  bucket->bytes += bytes;
  bucket->held += held;
  if (held == 0 && bucket->bytes >= limits.bucket)
    beginBucket(bucket - buckets.begin());
}

/// Buckets that are too full for a reduction which would join them.
void CollectiveOrder::beginAlike(Operation *reduction) {
  for (size_t number = 0; number < buckets.size();)
    if (mayShareBucket(buckets[number].members.front(), reduction))
      beginBucket(number);
    else
      ++number;
}

void CollectiveOrder::beginBucket(size_t number) {
  Bucket bucket = std::move(buckets[number]);
  buckets.erase(buckets.begin() + number);
  Operation *collective = join(bucket.members);
  emit(collective);
  setRunning(collective, bucket.held);
}

/// Values that somebody else would free are not kept waiting for a bucket to be full.
void CollectiveOrder::beginBuckets(bool onlyHeld) {
  for (size_t number = 0; number < buckets.size();)
    if (buckets[number].held > 0 || !onlyHeld)
      beginBucket(number);
    else
      ++number;
}

/// One started collective and one wait for those of all members.
Operation *CollectiveOrder::join(ArrayRef<Operation *> members) {
  Operation *first = members.front();
  if (members.size() == 1)
    return first;
  OperationState state(first->getLoc(), first->getName());
  state.addAttributes(first->getAttrs());
  for (Operation *member : members) {
    state.addOperands(member->getOperands());
    state.addTypes(member->getResultTypes());
  }
  OpBuilder builder(&block, std::prev(block.end()));
  Operation *collective = builder.create(state);
  auto wait = builder.create<WaitOp>(first->getLoc(), collective->getResultTypes(), collective->getResults());
  movable.addJoined(wait);
  unsigned next = 0;
  llvm::SetVector<StringAttr> causes;
  for (Operation *member : members) {
    if (auto cause = member->getAttrOfType<StringAttr>(ParDialect::kCauseAttr))
      causes.insert(cause);
    WaitOp before = getWait(member);
    for (Value result : before.getResults())
      result.replaceAllUsesWith(wait.getResult(next++));
    joined.append({member, before});
  }
  if (causes.size() > 1)
    collective->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(causes.front().getValue() + "; " +
                                                                      Twine(causes.size() - 1) + " more"));
  return collective;
}

//===----------------------------------------------------------------------===//
// Reductions under way
//===----------------------------------------------------------------------===//

void CollectiveOrder::setRunning(Operation *collective, int64_t held) {
  running.push_back({collective, held});
  // No memory to keep anything for others to compute beside.
  if (held > 0 && limits.prefetch == 0)
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
