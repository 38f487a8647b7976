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

RankInterpreter::Route &RankInterpreter::getRoute(rank::ExchangeOp exchange, bool isAtSender) {
  auto other = static_cast<uint64_t>(exchange.getStages().front());
  return routes[isAtSender ? std::pair(stage, other) : std::pair(other, stage)];
}

/// False if it has to wait for another stage. What begin and wait mean is in docs/Schedules.md.
FailureOr<bool> RankInterpreter::runExchange(rank::ExchangeOp exchange) {
  std::optional<Message> message = getMessage(exchange.getAction());
  if (!message)
    return runSum(exchange);
  if (!message->begins())
    return runWait(exchange, *message);
  bool isAtSender = message->isAtSender();
  Route &route = getRoute(exchange, isAtSender);
  size_t number = isAtSender ? route.sent.size() : route.received;
  if (isAtSender) {
    FailureOr<std::vector<Tensors>> values = readSlots(exchange);
    if (failed(values))
      return failure();
    route.sent.push_back(std::move(*values));
    takeOff(exchange, /*isWritten=*/false);
  } else {
    if (failed(discardReceived(exchange)))
      return failure();
    ++route.received;
  }
  if (!messages[{stage, message->getKind()}].begin({exchange, number}))
    return LogicalResult(exchange.emitOpError("begins while ")
                         << par_most_messages_under_way << " messages of its kind are under way");
  return true;
}

/// Ends the oldest message of its kind, as soon as both ends have begun that one.
FailureOr<bool> RankInterpreter::runWait(rank::ExchangeOp exchange, const Message &message) {
  par_begun_messages<BegunMessage> &kind = messages[{stage, message.getKind()}];
  std::optional<BegunMessage> begun = kind.oldest();
  if (!begun)
    return LogicalResult(exchange.emitOpError("waits for a message that has not begun"));
  const Route &route = getRoute(exchange, message.isAtSender());
  if ((message.isAtSender() ? route.received : route.sent.size()) <= begun->number)
    return false;
  kind.end();
  if (failed(land(*begun, route, message.isAtSender())))
    return failure();
  return true;
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

/// The buffers are those that the message began with.
LogicalResult RankInterpreter::land(const BegunMessage &begun, const Route &route, bool isAtSender) {
  llvm::erase_if(flights[stage], [&](const Started &other) { return other.start == begun.exchange; });
  if (isAtSender)
    return success();
  const std::vector<Tensors> &values = route.sent[begun.number];
  rank::ExchangeOp exchange = begun.exchange;
  auto fits = [](Value buffer, const Tensors &tensors) {
    return cast<RankedTensorType>(*buffer.getDefiningOp<rank::SlotOp>().getTensor()).getShape() ==
           tensors.front().shape();
  };
  if (values.size() != exchange.getBuffers().size() ||
      !llvm::all_of(llvm::zip(exchange.getBuffers(), values),
                    [&](auto pair) { return fits(std::get<0>(pair), std::get<1>(pair)); }))
    return exchange.emitOpError("receives tensors of other shapes than message ")
           << begun.number << " of its route was sent with";
  writeSlots(exchange, values);
  return success();
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
