//===- ScheduleTable.cpp - the entries of a schedule as numbers -----------------------------------------===//
#include "ScheduleTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

LogicalResult ScheduleTable::build(rank::ScheduleOp schedule, int64_t firstAction) {
  for (Operation &op : schedule.getBody().front()) {
    if (isa<rank::SlotOp, rank::ReturnOp>(op))
      continue;
    par_entry entry{};
    entry.action = static_cast<int32_t>(firstAction++);
    LogicalResult added = llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                              .Case([&](rank::ActionOp action) { return addAction(action, entry); })
                              .Case([&](rank::ExchangeOp exchange) { return addExchange(exchange, entry); })
                              .Default([](Operation *other) {
                                return other->emitOpError("rank-to-llvm: no code for this op");
                              });
    if (failed(added))
      return failure();
    ArrayRef<int32_t> members(reinterpret_cast<const int32_t *>(&entry), membersOfEntry);
    entries.append(members.begin(), members.end());
  }
  return success();
}

/// Where a slot lies: its offset, and bit 0 for the arena in host memory. Offsets are multiples of 4.
FailureOr<int64_t> ScheduleTable::getWord(Value buffer) {
  auto slot = buffer.getDefiningOp<rank::SlotOp>();
  if (!slot.getOffset())
    return LogicalResult(
        slot.emitOpError("rank-to-llvm: the slot has no offset; run rank-plan-memory first"));
  return static_cast<int64_t>(*slot.getOffset()) | (rank::isOnDevice(buffer) ? 0 : 1);
}

int32_t ScheduleTable::addWords(ArrayRef<int64_t> added) {
  auto begin = static_cast<int32_t>(words.size());
  words.append(added.begin(), added.end());
  return begin;
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
void ScheduleTable::setOperands(StringRef user, ArrayRef<int64_t> operands, par_entry &entry) {
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
    return;
  }
  entry.patches = static_cast<int32_t>(best->size() / 2);
  entry.patch = best->empty() ? 0 : addWords(*best);
}

/// The frame of an action, and residuals that nothing before it has written, hold nothing.
LogicalResult ScheduleTable::addAction(rank::ActionOp action, par_entry &entry) {
  entry.kind = par_entry_call;
  auto [found, isNew] = functions.insert({action.getCallee(), action});
  entry.function = static_cast<int32_t>(found - functions.begin());
  Words operands;
  std::vector<int64_t> fresh;
  for (auto [number, buffer] : llvm::enumerate(action.getOperands())) {
    FailureOr<int64_t> word = getWord(buffer);
    if (failed(word))
      return failure();
    operands.push_back(*word);
    bool isFrame = number == 0;
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    if (isFrame || (slot.getKind() == rank::SlotKind::Residual && written.insert(buffer).second))
      fresh.insert(fresh.end(), {static_cast<int64_t>(number), rank::getBytes(buffer)});
  }
  setOperands(action.getCallee(), operands, entry);
  auto [list, isFirst] = discards.try_emplace(fresh, static_cast<int32_t>(words.size()));
  if (isFirst)
    addWords(fresh);
  entry.discard = list->second;
  entry.discards = static_cast<int32_t>(fresh.size() / 2);
  return success();
}

/// A sum has the same buffers as sources and destinations.
LogicalResult ScheduleTable::addExchange(rank::ExchangeOp exchange, par_entry &entry) {
  if (!exchange.getNumber())
    return exchange.emitOpError("rank-to-llvm: has no number; run rank-number-work first");
  std::optional<Message> message = getMessage(exchange.getAction());
  entry.kind = !message            ? par_entry_collective
               : message->begins() ? par_entry_message_start
                                   : par_entry_message_wait;
  entry.number = static_cast<int32_t>(*exchange.getNumber());
  written.insert(exchange.getOuts().begin(),
                 exchange.getOuts().end()); // the runtime discards what is received
  if (entry.kind == par_entry_message_wait)
    return success();
  SmallVector<Value> buffers(exchange.getBuffers());
  if (!message)
    llvm::append_range(buffers, exchange.getBuffers());
  Words operands;
  for (Value buffer : buffers) {
    FailureOr<int64_t> word = getWord(buffer);
    if (failed(word))
      return failure();
    operands.push_back(*word);
  }
  setOperands(("exchange " + Twine(entry.kind) + " " + Twine(entry.number)).str(), operands, entry);
  return success();
}
