//===- ProgramTimes.cpp - how long the functions of a rank program run ----------------------------------===//
#include "par/Cost/ProgramTimes.h"
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

OpCost par::estimateWorkCost(Operation *op, MeshAttr mesh) {
  OpCost cost;
  if (auto copy = dyn_cast<rank::CopyOp>(op)) {
    cost.bytes = 2 * static_cast<double>(copy.getSource().getType().getBytes());
    return cost;
  }
  auto work = cast<rank::WorkOpInterface>(op);
  if (rank::isCollective(op)) {
    auto content = cast<CollectiveOpInterface>(work.getBody().front().front());
    cost.gathered = content.getWireBytes(countMembers(content, mesh));
    return cost;
  }
  for (OperandRange buffers : {work.getIns(), work.getOuts()})
    for (Value buffer : buffers)
      cost.bytes += static_cast<double>(rank::getBytes(buffer));
  op->walk([&](CostOpInterface inner) { cost.flops += inner.getFlops(); });
  return cost;
}

/// A copy from one memory to another one.
static bool isTransfer(Operation *op) {
  if (auto copy = dyn_cast<rank::CopyOp>(op))
    return copy.getSource().getType().getSpace() != copy.getTarget().getType().getSpace();
  return rank::isStartedTransfer(op);
}

double ProgramTimes::measureWork(Operation *work) const {
  OpCost cost = estimateWorkCost(work, mesh);
  if (isTransfer(work))
    cost.gathered = std::exchange(cost.bytes, 0) / 2;
  return getSeconds(cost, rates);
}

namespace {
/// Runs the ops of a function on a clock.
struct Clock {
  double now = 0;
  double queues[2] = {}; ///< when what is started has ended: collectives and copies
  llvm::DenseMap<Value, double> ends;

  void start(rank::StartOp op, double seconds) {
    double &queue = queues[rank::isStartedTransfer(op)];
    ends[op.getEvent()] = queue = std::max(now, queue) + seconds;
  }
  void wait(rank::WaitOp op) { now = std::max(now, ends.lookup(op.getEvent())); }
  void collect(double seconds) { now = queues[0] = std::max(now, queues[0]) + seconds; }
};
} // namespace

double ProgramTimes::measure(rank::FuncOp function) {
  if (auto found = known.find(function); found != known.end())
    return found->second;
  Clock clock;
  for (Operation &op : function.getBody().front()) {
    if (auto start = dyn_cast<rank::StartOp>(op))
      clock.start(start, measureWork(start));
    else if (auto wait = dyn_cast<rank::WaitOp>(op))
      clock.wait(wait);
    else if (isa<rank::CollectiveOp>(op))
      clock.collect(measureWork(&op));
    else if (auto call = dyn_cast<rank::CallOp>(op))
      clock.now += double(call.getParts()) * measure(symbols.lookup<rank::FuncOp>(call.getCallee()));
    else if (isa<rank::WorkOpInterface, rank::CopyOp>(op))
      clock.now += measureWork(&op);
  }
  return known[function] = clock.now;
}

double ProgramTimes::measure(rank::EntryOpInterface entry) {
  if (auto action = dyn_cast<rank::ActionOp>(*entry))
    return measure(symbols.lookup<rank::FuncOp>(action.getCallee()));
  return measureExchange(cast<rank::ExchangeOp>(*entry));
}

double ProgramTimes::measureExchange(rank::ExchangeOp exchange) const {
  OpCost cost;
  for (Value buffer : exchange.getBuffers())
    cost.gathered += static_cast<double>(rank::getBytes(buffer));
  auto members = static_cast<double>(exchange.getStages().size());
  if (isSum(exchange.getKind()))
    cost.gathered *= 2 * (members - 1) / members;
  return getSeconds(cost, rates);
}
