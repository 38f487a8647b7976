//===- VerifySchedule.cpp - the actions of a module make whole steps ------------------------------------===//
#include "par/Dialect/Rank/Analysis/StepLists.h"
#include "par/Schedule/Timeline.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static InFlightDiagnostic emit(Operation *op) { return op->emitOpError("par-verify-schedule: "); }

namespace {
/// The schedules of one purpose, by stage.
class Step {
public:
  Step(rank::Purpose purpose, rank::StepLists step) : purpose(purpose), step(std::move(step)) {}

  LogicalResult run() {
    if (stages.empty())
      return success();
    if ((purpose != rank::Purpose::Train && failed(verifyForward())) || failed(replay()))
      return failure();
    for (rank::ScheduleOp schedule : stages)
      if (failed(verifyResiduals(schedule)))
        return failure();
    return verifyExchanges();
  }

private:
  LogicalResult replay() {
    SmallVector<ActionPlace> faults;
    llvm::Expected<Timeline> timeline = replaySchedule(lists, ActionTimes(), &faults);
    if (timeline)
      return success();
    Operation *at = stages.front();
    if (!faults.empty())
      at = step.entries[faults.front().stage][faults.front().position];
    InFlightDiagnostic error = emit(at) << llvm::toString(timeline.takeError());
    for (ActionPlace place : ArrayRef(faults).drop_front(faults.empty() ? 0 : 1))
      error.attachNote(step.entries[place.stage][place.position]->getLoc()) << "this action";
    return error;
  }

  /// Every chunk once with every micro-batch, by actions of the purpose; there are enough of them.
  LogicalResult verifyForward() {
    ActionKind expected = purpose == rank::Purpose::Eval ? ActionKind::Eval : ActionKind::Logits;
    std::map<std::pair<int64_t, int64_t>, Operation *> seen;
    for (const std::vector<rank::EntryOpInterface> &entries : step.entries)
      for (rank::EntryOpInterface op : entries) {
        Action action = op.getAction();
        if (getMessage(action))
          continue;
        if (action.kind != expected)
          return emit(op) << stringifyActionKind(action.kind) << " in a schedule to "
                          << rank::stringifyPurpose(purpose) << "; expected "
                          << stringifyActionKind(expected);
        if (action.microBatch < 0 || action.microBatch >= lists.shape.microBatches)
          return emit(op) << "is of micro-batch " << action.microBatch << ", expected 0 to "
                          << lists.shape.microBatches - 1;
        auto [first, isNew] = seen.try_emplace({action.chunk, action.microBatch}, op);
        if (isNew)
          continue;
        InFlightDiagnostic error = emit(op) << "is there twice, expected one action of chunk " << action.chunk
                                            << " with micro-batch " << action.microBatch;
        error.attachNote(first->second->getLoc()) << "first here";
        return error;
      }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  using Writers = llvm::DenseMap<Value, rank::EntryOpInterface>;

  /// What an action reads of a micro-batch is that micro-batch's: no other one in flight has been written
  /// over it. What a message receives is written as soon as it begins, and nothing else may have it until it
  /// is waited for.
  static LogicalResult verifyResiduals(rank::ScheduleOp schedule) {
    Writers writers, receives;
    for (auto entry : schedule.getOps<rank::EntryOpInterface>())
      for (const rank::Access &access : cast<rank::AccessOpInterface>(*entry).getAccesses()) {
        Value buffer = access.operand->get();
        if (buffer.getDefiningOp<rank::SlotOp>().getKind() != rank::SlotKind::Residual)
          continue;
        if (failed(verifyReceive(entry, buffer, receives)))
          return failure();
        if (access.kind == rank::AccessKind::Write)
          writers[buffer] = entry;
        else if (access.kind == rank::AccessKind::Read && failed(verifyRead(entry, buffer, writers)))
          return failure();
      }
    return success();
  }

  static LogicalResult verifyReceive(rank::EntryOpInterface entry, Value buffer, Writers &receives) {
    std::optional<Message> message = getMessage(entry.getAction());
    rank::EntryOpInterface begun = receives.lookup(buffer);
    if (message && message->part == MessagePart::Received && begun &&
        begun.getAction() == message->getAction(MessagePart::Receive))
      return receives.erase(buffer), success();
    if (begun) {
      InFlightDiagnostic error = emit(entry) << "touches residual \"" << getName(buffer)
                                             << "\", which is being received and is not waited for";
      error.attachNote(begun->getLoc()) << "begun here";
      return error;
    }
    if (message && message->part == MessagePart::Receive)
      receives[buffer] = entry;
    return success();
  }

  static LogicalResult verifyRead(rank::EntryOpInterface entry, Value buffer, const Writers &writers) {
    rank::EntryOpInterface writer = writers.lookup(buffer);
    if (!writer)
      return emit(entry) << "reads residual \"" << getName(buffer)
                         << "\", which no action before it has written";
    int64_t written = writer.getAction().microBatch, wanted = entry.getAction().microBatch;
    if (written < 0 || wanted < 0 || written == wanted)
      return success();
    InFlightDiagnostic error = emit(entry)
                               << "reads residual \"" << getName(buffer) << "\" of micro-batch " << wanted
                               << ", but micro-batch " << written << " has been written over it";
    error.attachNote(writer->getLoc()) << "here";
    return error;
  }

  static StringRef getName(Value buffer) { return buffer.getDefiningOp<rank::SlotOp>().getName(); }

  //===--------------------------------------------------------------------===//
  // What crosses stages
  //===--------------------------------------------------------------------===//

  static SmallVector<Type> getTensors(rank::ExchangeOp op) {
    SmallVector<Type> types;
    for (Value buffer : op.getBuffers())
      types.push_back(buffer.getDefiningOp<rank::SlotOp>().getTensor().value_or(buffer.getType()));
    return types;
  }

  /// A stage receives what the stage that it names sends, and all add up the same. The replay has found each
  /// message once at both ends.
  LogicalResult verifyExchanges() {
    for (rank::ScheduleOp schedule : stages)
      for (auto op : schedule.getOps<rank::ExchangeOp>())
        if (std::optional<Message> message = getMessage(op.getAction());
            message && message->part == MessagePart::Send)
          sent[message->getId()] = op;
    for (rank::ScheduleOp schedule : stages)
      for (auto op : schedule.getOps<rank::ExchangeOp>())
        if (failed(verifyExchange(op, getMessage(op.getAction()))))
          return failure();
    return success();
  }

  LogicalResult verifyExchange(rank::ExchangeOp op, std::optional<Message> message) {
    if (!message)
      return verifySame(op, step.sums.at({op.getKind(), static_cast<int64_t>(op.getChunk())}), "adds up",
                        "another stage does");
    int64_t chunk = message->getOther(), other = lists.stageOfChunk[chunk];
    if (op.getStages().front() != other)
      return emit(op) << "is a message with stage " << op.getStages().front() << ", but chunk " << chunk
                      << " is on stage " << other;
    if (message->part != MessagePart::Receive)
      return success();
    return verifySame(op, sent.at(message->getId()), "receives", "sent is");
  }

  static LogicalResult verifySame(rank::ExchangeOp op, rank::ExchangeOp other, StringRef does,
                                  StringRef otherDoes) {
    SmallVector<Type> own = getTensors(op), others = getTensors(other);
    if (own == others)
      return success();
    InFlightDiagnostic error = emit(op) << does << " (" << own << "), " << otherDoes << " (" << others << ")";
    error.attachNote(other.getLoc()) << "the other stage";
    return error;
  }

  rank::Purpose purpose;
  rank::StepLists step;
  const PipelineSchedule &lists = step.lists;
  const SmallVector<rank::ScheduleOp> &stages = step.stages;
  std::map<Message::Id, rank::ExchangeOp> sent;
};

struct VerifySchedule : par::impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    for (rank::Purpose purpose : {rank::Purpose::Train, rank::Purpose::Eval, rank::Purpose::Logits})
      if (FailureOr<rank::StepLists> step = rank::StepLists::read(getOperation(), purpose);
          failed(step) || failed(Step(purpose, std::move(*step)).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
