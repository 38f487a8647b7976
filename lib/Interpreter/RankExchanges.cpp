//===- RankExchanges.cpp - what crosses the stages of interpreted rank programs -------------------------===//
#include "par/Interpreter/RankInterpreter.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Tensors>> RankInterpreter::readSlots(rank::ExchangeOp exchange) {
  std::vector<Tensors> values;
  for (Value buffer : exchange.getBuffers()) {
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    FailureOr<Tensors> tensors =
        readAll(exchange, getAddress(slot), cast<RankedTensorType>(*slot.getTensor()));
    if (failed(tensors))
      return failure();
    values.push_back(std::move(*tensors));
  }
  return values;
}

void RankInterpreter::writeSlots(rank::ExchangeOp exchange, const std::vector<Tensors> &values) {
  for (auto [buffer, tensors] : llvm::zip(exchange.getBuffers(), values))
    writeAll(getAddress(buffer.getDefiningOp<rank::SlotOp>()), tensors);
}

/// False if it has to wait for another stage. A message is there when both ends have begun it.
FailureOr<bool> RankInterpreter::runExchange(rank::ExchangeOp exchange) {
  std::optional<Message> message = getMessage(exchange.getAction());
  if (!message)
    return runSum(exchange);
  Transfer &transfer = messages[message->getId()];
  switch (message->part) {
  case MessagePart::Send: {
    FailureOr<std::vector<Tensors>> values = readSlots(exchange);
    if (failed(values))
      return failure();
    transfer.values = std::move(*values);
    takeOff(exchange, /*isWritten=*/false);
    return true;
  }
  case MessagePart::Receive:
    if (failed(discardReceived(exchange)))
      return failure();
    transfer.isAwaited = true;
    return true;
  case MessagePart::Sent:
    if (!transfer.isAwaited)
      return false;
    return land(exchange, message->getAction(MessagePart::Send));
  case MessagePart::Received:
    if (!transfer.values)
      return false;
    if (failed(land(exchange, message->getAction(MessagePart::Receive))))
      return failure();
    writeSlots(exchange, *transfer.values);
    return true;
  }
  llvm_unreachable("unknown MessagePart");
}

/// From now on, up to its wait, the buffers are the transport's.
void RankInterpreter::takeOff(rank::ExchangeOp exchange, bool isWritten) {
  Started begun{exchange, {}, {}, {}};
  for (Value buffer : exchange.getBuffers())
    begun.ranges.push_back(
        {getAddress(buffer.getDefiningOp<rank::SlotOp>()), rank::getBytes(buffer), isWritten});
  flights[stage].push_back(std::move(begun));
}

LogicalResult RankInterpreter::discardReceived(rank::ExchangeOp exchange) {
  for (Value buffer : exchange.getOuts()) {
    int64_t offset = getAddress(buffer.getDefiningOp<rank::SlotOp>()), bytes = rank::getBytes(buffer);
    if (failed(checkStarted(exchange, offset, bytes, /*writes=*/true)))
      return failure();
    for (InterpretedArena &arena : arenas)
      arena.discard(offset, bytes);
  }
  takeOff(exchange, /*isWritten=*/true);
  return success();
}

FailureOr<bool> RankInterpreter::land(rank::ExchangeOp exchange, const Action &beginning) {
  std::vector<Started> &own = flights[stage];
  auto begun = llvm::find_if(own, [&](const Started &other) {
    return cast<rank::ExchangeOp>(other.start).getAction() == beginning;
  });
  if (begun == own.end())
    return LogicalResult(exchange.emitOpError("waits for a message that has not begun"));
  own.erase(begun);
  return true;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// In the order of the stages, by the last one that comes; all get the sum.
FailureOr<bool> RankInterpreter::runSum(rank::ExchangeOp exchange) {
  for (Running &each : running)
    if (llvm::is_contained(exchange.getStages(), getStage(each)) && !isAt(*each.next, exchange.getAction()))
      return false;
  std::vector<Tensors> sum;
  for (Running &each : running) {
    if (!llvm::is_contained(exchange.getStages(), getStage(each)))
      continue;
    enter(each.schedule);
    FailureOr<std::vector<Tensors>> values = readSlots(cast<rank::ExchangeOp>(*each.next));
    if (failed(values))
      return failure();
    sum.empty() ? (void)(sum = std::move(*values)) : add(sum, *values);
  }
  if (interpreter.isRounding())
    for (Tensors &tensors : sum)
      for (Tensor &tensor : tensors)
        tensor.round();
  for (Running &each : running)
    if (llvm::is_contained(exchange.getStages(), getStage(each))) {
      enter(each.schedule);
      writeSlots(cast<rank::ExchangeOp>(*each.next), sum);
      // The stage whose turn it is goes on by itself.
      if (each.next->getParentOp() != exchange->getParentOp())
        ++each.next;
    }
  enter(exchange->getParentOfType<rank::ScheduleOp>());
  return true;
}

bool RankInterpreter::isAt(Operation &next, const Action &action) {
  auto exchange = dyn_cast<rank::ExchangeOp>(next);
  return exchange && exchange.getAction() == action;
}

int64_t RankInterpreter::getStage(const Running &each) {
  return static_cast<int64_t>(rank::ScheduleOp(each.schedule).getStage().value_or(0));
}

void RankInterpreter::add(std::vector<Tensors> &sum, const std::vector<Tensors> &values) {
  for (auto [total, added] : llvm::zip(sum, values))
    for (auto [to, from] : llvm::zip(total, added))
      for (auto [element, value] : llvm::zip(to.values, from.values))
        element += value;
}
