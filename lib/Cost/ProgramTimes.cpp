//===- ProgramTimes.cpp - how long the functions of a rank program run ----------------------------------===//
#include "par/Cost/ProgramTimes.h"

using namespace mlir;
using namespace mlir::par;

using Term = double TimeTerms::*;

namespace {
/// Runs the ops of a function on a clock.
class Clock {
public:
  explicit Clock(const Machine &machine)
      : hostTime(machine.getHostTime()), concurrency(machine.getConcurrency()) {}

  /// What the device does, and how long its host has been behind at the end.
  TimeTerms finish() {
    if (issued > now)
      terms.host += issued - now;
    return terms;
  }

  /// `waits`: where the time counts for which the function waits.
  void start(rank::StartOp op, double seconds, Term waits) {
    issued += hostTime;
    bool isTransfer = rank::isStartedTransfer(op);
    double &queue = queues[isTransfer];
    queue = std::max(now, queue) + (isTransfer ? seconds : seconds / concurrency.communicateShare);
    started[op.getEvent()] = {queue, waits};
  }
  void wait(rank::WaitOp op) {
    auto [end, waits] = started.lookup(op.getEvent());
    advance(std::max(now, end), waits);
  }
  /// What is computed waits for it.
  void startAlone(rank::StartOp op, double seconds, Term waits) {
    collect(seconds, waits);
    started[op.getEvent()] = {now, waits};
  }
  void collect(double seconds, Term waits) {
    issued += hostTime;
    queues[0] = std::max(now, queues[0]) + seconds;
    advance(queues[0], waits);
  }
  void compute(double seconds, Term term) {
    issued += hostTime;
    double slowed = stretch(seconds);
    advance(now + seconds, term);
    advance(now + slowed - seconds, &TimeTerms::contention);
  }
  /// A function, which has its own hosts' time in it.
  void call(const TimeTerms &inner, double times) {
    double seconds = inner.sum() * times, slowed = stretch(seconds);
    terms.add(inner, times);
    now += seconds;
    advance(now + slowed - seconds, &TimeTerms::contention);
  }

private:
  void advance(double time, Term term) {
    terms.*term += time - now;
    now = time;
  }
  /// Slower while a collective runs.
  double stretch(double seconds) const {
    double beside = std::max(0.0, queues[0] - now);
    double done = beside * concurrency.computeShare;
    return done < seconds ? beside + (seconds - done) : seconds / concurrency.computeShare;
  }

  const double hostTime;
  const ConcurrencyModel concurrency;
  TimeTerms terms;
  double now = 0, issued = 0; ///< of the device and of the host
  double queues[2] = {};      ///< when what is started has ended: collectives and copies
  llvm::DenseMap<Value, std::pair<double, Term>> started;
};
} // namespace

static Term findTerm(Operation *work) {
  switch (rank::getWorkKind(work).value_or(WorkKind::Kernel)) {
  case WorkKind::Product:
    return &TimeTerms::products;
  case WorkKind::Attention:
    return &TimeTerms::attention;
  case WorkKind::Kernel:
    return &TimeTerms::kernels;
  }
  llvm_unreachable("a kind of work without a term");
}

/// By the axes over which ranks wait for each other.
Term ProgramTimes::findWait(Operation *work) const {
  if (findTransferBytes(work))
    return &TimeTerms::transfers;
  Exchange exchange = describeExchange(work, mesh);
  bool isTensor = llvm::all_of(exchange.axes, [&](size_t axis) {
    return hasRole(mesh.getNames()[axis].getValue(), AxisRole::Tensor);
  });
  return isTensor ? &TimeTerms::tensor : &TimeTerms::data;
}

double ProgramTimes::measureWork(Operation *work) const {
  if (std::optional<double> bytes = findTransferBytes(work))
    return machine.getCopySeconds(*bytes);
  if (rank::isCollective(work))
    return machine.getSeconds(describeExchange(work, mesh));
  return machine.getSeconds(describeComputation(work));
}

bool ProgramTimes::blocks(rank::StartOp start) const {
  return !rank::isStartedTransfer(start) && machine.exchangeBlocks(describeExchange(start, mesh));
}

TimeTerms ProgramTimes::measure(rank::FuncOp function) {
  if (auto found = known.find(function); found != known.end())
    return found->second;
  Clock clock(machine);
  for (Operation &op : function.getBody().front()) {
    if (auto start = dyn_cast<rank::StartOp>(op); start && blocks(start))
      clock.startAlone(start, measureWork(start), findWait(start));
    else if (start)
      clock.start(start, measureWork(start), findWait(start));
    else if (auto wait = dyn_cast<rank::WaitOp>(op))
      clock.wait(wait);
    else if (isa<rank::CollectiveOp>(op))
      clock.collect(measureWork(&op), findWait(&op));
    else if (auto call = dyn_cast<rank::CallOp>(op))
      clock.call(measure(symbols.lookup<rank::FuncOp>(call.getCallee())),
                 static_cast<double>(call.getParts()));
    else if (findTransferBytes(&op))
      clock.compute(measureWork(&op), &TimeTerms::transfers);
    else if (isa<rank::WorkOpInterface, rank::CopyOp>(op))
      clock.compute(measureWork(&op), findTerm(&op));
  }
  return known[function] = clock.finish();
}

TimeTerms ProgramTimes::measure(rank::EntryOpInterface entry) {
  TimeTerms terms;
  if (auto action = dyn_cast<rank::ActionOp>(*entry)) {
    terms = measure(symbols.lookup<rank::FuncOp>(action.getCallee()));
    terms.products += machine.getExtraSeconds(entry.getAction());
    return terms;
  }
  terms.pipeline = machine.getSeconds(describeExchange(cast<rank::ExchangeOp>(*entry), mesh));
  return terms;
}
