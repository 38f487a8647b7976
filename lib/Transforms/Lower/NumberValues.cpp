//===- NumberValues.cpp - which values actions read and write --------------------------------------------===//
#include "StageSchedule.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::par;

template <typename Op>
static void numberEntry(Op op, bool isWritten, llvm::DenseMap<Value, int64_t> &now, int64_t &next) {
  SmallVector<int64_t> reads, writes;
  for (Value slot : op.getIns())
    reads.push_back(now.lookup(slot));
  if (isWritten)
    for (Value slot : op.getOuts())
      writes.push_back(now[slot] = next++);
  op.setReads(reads);
  if (isWritten)
    op.setWrites(writes);
}

void par::numberValues(rank::ScheduleOp schedule, rank::ReturnOp exit) {
  llvm::DenseMap<Value, int64_t> now;
  int64_t next = 0;
  for (auto slot : schedule.getOps<rank::SlotOp>())
    now[slot.getBuffer()] = next++;
  for (auto entry : schedule.getOps<rank::EntryOpInterface>())
    llvm::TypeSwitch<Operation *>(entry)
        .Case([&](rank::ActionOp action) { numberEntry(action, /*isWritten=*/true, now, next); })
        .Case([&](rank::ExchangeOp exchange) {
          std::optional<Message> message = getMessage(exchange.getAction());
          bool isWritten = !message || message->part == MessagePart::Received;
          numberEntry(exchange, isWritten, now, next);
        });
  SmallVector<int64_t> values;
  for (auto slot : schedule.getOps<rank::SlotOp>()) {
    bool isKept = slot.getKind() == rank::SlotKind::Variable || slot.getKind() == rank::SlotKind::Output;
    values.push_back(isKept ? now.lookup(slot.getBuffer()) : -1);
  }
  exit.setValues(values);
}
