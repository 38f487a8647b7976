//===- ScheduleTable.cpp - the entries of a schedule as numbers -----------------------------------------===//
#include "ScheduleTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

LogicalResult ScheduleTable::build(rank::ScheduleOp schedule) {
  for (Operation &op : schedule.getBody().front()) {
    if (isa<rank::SlotOp, rank::ReturnOp>(op))
      continue;
    LogicalResult added = llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                              .Case([&](rank::ActionOp action) { return addAction(action); })
                              .Case([&](rank::ExchangeOp exchange) { return addExchange(exchange); })
                              .Default([](Operation *other) {
                                return other->emitOpError("rank-to-llvm: no code for this op");
                              });
    if (failed(added))
      return failure();
  }
  return success();
}

template <typename Record>
std::vector<int32_t> ScheduleTable::getMembers(const Record &record) {
  const auto *members = reinterpret_cast<const int32_t *>(&record);
  return std::vector<int32_t>(members, members + membersOf<Record>);
}

void ScheduleTable::addStep(const par_entry &entry, int32_t patch) {
  std::vector<int32_t> members = getMembers(entry);
  auto next = static_cast<int32_t>(entries.size() / membersOf<par_entry>);
  auto [number, isNew] = numbers.try_emplace(members, next);
  if (isNew)
    llvm::append_range(entries, members);
  llvm::append_range(steps, getMembers(par_step{number->second, patch}));
}

/// Where slots lie: their offsets, and bit 0 for the arena in host memory. Offsets are multiples of 4.
FailureOr<ScheduleTable::Words> ScheduleTable::getOperands(ValueRange buffers) {
  Words operands;
  for (Value buffer : buffers) {
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    if (!slot.getOffset())
      return LogicalResult(
          slot.emitOpError("rank-to-llvm: the slot has no offset; run rank-plan-memory first"));
    operands.push_back(static_cast<int64_t>(*slot.getOffset()) | (rank::isOnDevice(buffer) ? 0 : 1));
  }
  return operands;
}

/// Lists that are equal lie in one place.
int32_t ScheduleTable::addWords(ArrayRef<int64_t> added) {
  auto [begin, isNew] = lists.try_emplace(added.vec(), static_cast<int32_t>(words.size()));
  if (isNew)
    llvm::append_range(words, added);
  return begin->second;
}

/// Numbers of operands that differ from a row, each with its word; no more than `most` words and a few.
static SmallVector<int64_t> findDiffering(ArrayRef<int64_t> row, ArrayRef<int64_t> operands, size_t most) {
  SmallVector<int64_t> differing;
  for (size_t i = 0; i < operands.size() && differing.size() <= most; ++i)
    if (row[i] != operands[i])
      differing.append({static_cast<int64_t>(i), operands[i]});
  return differing;
}

/// Shares the row of the user that differs least. What differs has to be little: micro-batches in other
/// places have rows of their own, or every one of them would repeat half a row.
int32_t ScheduleTable::setOperands(StringRef user, ArrayRef<int64_t> operands, par_entry &entry) {
  entry.operands = static_cast<int32_t>(operands.size());
  mostOperands = std::max(mostOperands, static_cast<int64_t>(operands.size()));
  SmallVector<int32_t> &known = rows[user.str()];
  const size_t most = std::max<size_t>(2, operands.size() / 16);
  std::optional<Words> best;
  for (int32_t row : known) {
    Words differing = findDiffering(ArrayRef(words).slice(row, operands.size()), operands, most);
    if (differing.size() > most || (best && differing.size() >= best->size()))
      continue;
    best = differing;
    entry.row = row;
  }
  if (!best) {
    known.push_back(entry.row = addWords(operands));
    return 0;
  }
  if (best->empty())
    return 0;
  best->insert(best->begin(), static_cast<int64_t>(best->size() / 2));
  return addWords(*best);
}

/// The frame of an action, and residuals that nothing before it has written, hold nothing.
LogicalResult ScheduleTable::addAction(rank::ActionOp action) {
  FailureOr<Words> operands = getOperands(action.getOperands());
  if (failed(operands))
    return failure();
  par_entry entry{};
  entry.kind = par_entry_call;
  auto [found, isNew] = functions.insert({action.getCallee(), action});
  entry.function = static_cast<int32_t>(found - functions.begin());
  Words fresh;
  for (auto [number, buffer] : llvm::enumerate(action.getOperands())) {
    bool isFrame = number == 0;
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    if (isFrame || (slot.getKind() == rank::SlotKind::Residual && written.insert(buffer).second))
      fresh.append({static_cast<int64_t>(number), rank::getBytes(buffer)});
  }
  int32_t patch = setOperands(action.getCallee(), *operands, entry);
  entry.discard = addWords(fresh);
  entry.discards = static_cast<int32_t>(fresh.size() / 2);
  addStep(entry, patch);
  return success();
}

/// A sum has the same buffers as sources and destinations.
LogicalResult ScheduleTable::addExchange(rank::ExchangeOp exchange) {
  if (!exchange.getNumber())
    return exchange.emitOpError("rank-to-llvm: has no number; run rank-number-work first");
  std::optional<Message> message = getMessage(exchange.getAction());
  par_entry entry{};
  entry.kind = !message            ? par_entry_collective
               : message->begins() ? par_entry_message_start
                                   : par_entry_message_wait;
  entry.number = static_cast<int32_t>(*exchange.getNumber());
  written.insert(exchange.getOuts().begin(),
                 exchange.getOuts().end()); // the runtime discards what is received
  if (entry.kind == par_entry_message_wait)
    return addStep(entry, 0), success();
  SmallVector<Value> buffers(exchange.getBuffers());
  if (!message)
    llvm::append_range(buffers, exchange.getBuffers());
  FailureOr<Words> operands = getOperands(buffers);
  if (failed(operands))
    return failure();
  std::string user = ("exchange " + Twine(entry.kind) + " " + Twine(entry.number)).str();
  int32_t patch = setOperands(user, *operands, entry);
  addStep(entry, patch);
  return success();
}
