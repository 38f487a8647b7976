//===- VerifySchedule.cpp - the actions of a module make whole steps ------------------------------------===//
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Schedule/Timeline.h"
#include "par/Transforms/Lower/Passes.h"
#include <map>

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
  Step(ModuleOp module, rank::Purpose purpose) : module(module), purpose(purpose) {}

  LogicalResult run() {
    if (failed(findStages()))
      return failure();
    if (stages.empty())
      return success();
    if (failed(readEntries()) || (purpose != rank::Purpose::Train && failed(verifyForward())) ||
        failed(replay()))
      return failure();
    for (rank::ScheduleOp schedule : stages)
      if (failed(verifyResiduals(schedule)))
        return failure();
    return verifyExchanges();
  }

private:
  /// One schedule without a stage, or one per stage.
  LogicalResult findStages() {
    SmallVector<rank::ScheduleOp> all;
    for (auto schedule : module.getOps<rank::ScheduleOp>())
      if (schedule.getPurpose() == purpose)
        all.push_back(schedule);
    stages.resize(all.size());
    for (rank::ScheduleOp schedule : all) {
      uint64_t stage = schedule.getStage().value_or(0);
      if (stage >= all.size() || stages[stage])
        return emit(schedule) << "is of stage " << stage << ", but the module has " << all.size()
                              << " schedules to " << schedule.getName()
                              << "; expected one of each stage below that";
      stages[stage] = schedule;
    }
    return success();
  }

  /// The lists of the stages, and where chunks are.
  LogicalResult readEntries() {
    for (rank::ScheduleOp schedule : stages) {
      auto entries = schedule.getOps<rank::EntryOpInterface>();
      ops.emplace_back(entries.begin(), entries.end());
      count += static_cast<int64_t>(ops.back().size());
    }
    if (PlanAttr plan = getPlan(module); plan && purpose != rank::Purpose::Logits)
      lists.shape.microBatches = std::max<int64_t>(plan.getPlan().microBatches, 1);
    lists.shape.stages = static_cast<int64_t>(stages.size());
    lists.step = StepParts{false, false};
    lists.step->forwardOnly = purpose != rank::Purpose::Train;
    for (auto [stage, entries] : llvm::enumerate(ops)) {
      lists.stages.emplace_back();
      for (rank::EntryOpInterface op : entries)
        if (failed(readEntry(op, static_cast<int64_t>(stage))))
          return failure();
    }
    auto chunks = static_cast<int64_t>(lists.stageOfChunk.size());
    // Evaluations end with the last chunk that computes anything.
    bool isUneven = chunks % lists.shape.stages && purpose == rank::Purpose::Train;
    lists.shape.chunksPerStage = llvm::divideCeil(chunks, lists.shape.stages);
    if (chunks == 0 || isUneven || llvm::is_contained(lists.stageOfChunk, -1) ||
        lists.shape.microBatches > count / chunks ||
        llvm::any_of(lists.stages, [](auto &list) { return list.empty(); }))
      return emit(stages.front()) << "the step has " << count << " actions for " << stages.size()
                                  << " stages, " << chunks << " chunks and " << lists.shape.microBatches
                                  << " micro-batches; expected some on every stage, for every chunk";
    return success();
  }

  LogicalResult readEntry(rank::EntryOpInterface op, int64_t stage) {
    Action action = op.getAction();
    if (action.chunk < 0 || action.chunk >= count || action.microBatch < -1 || action.microBatch >= count)
      return emit(op) << "names chunk " << action.chunk << " and micro-batch " << action.microBatch
                      << ", more than a step of " << count << " actions has";
    lists.stages.back().push_back(action);
    if (isSum(action.kind))
      return readSum(cast<rank::ExchangeOp>(op));
    if (action.chunk >= static_cast<int64_t>(lists.stageOfChunk.size()))
      lists.stageOfChunk.resize(action.chunk + 1, -1);
    if (int64_t &place = lists.stageOfChunk[action.chunk]; place < 0)
      place = stage;
    if (!getPlan(module) || purpose == rank::Purpose::Logits)
      lists.shape.microBatches = std::max(lists.shape.microBatches, action.microBatch + 1);
    lists.step->gathers |= action.kind == ActionKind::Gather;
    lists.step->updates |= action.kind >= ActionKind::BackwardLast && action.kind <= ActionKind::Update;
    return success();
  }

  /// Which stages a sum is of; all of them say the same.
  LogicalResult readSum(rank::ExchangeOp op) {
    rank::ExchangeOp &first = sums[{op.getKind(), static_cast<int64_t>(op.getChunk())}];
    if (first && first.getStages() != op.getStages()) {
      InFlightDiagnostic error = emit(op) << "is a sum of other stages than on another stage";
      error.attachNote(first.getLoc()) << "there";
      return error;
    }
    first = op;
    if (op.getKind() != ActionKind::SumGradients)
      return success();
    std::vector<std::vector<int64_t>> &tied = lists.step->tied;
    tied.resize(std::max<size_t>(tied.size(), op.getChunk() + 1));
    tied[op.getChunk()] = op.getStages().vec();
    return success();
  }

  LogicalResult replay() {
    SmallVector<ActionPlace> faults;
    llvm::Expected<Timeline> timeline = replaySchedule(lists, ActionTimes(), &faults);
    if (timeline)
      return success();
    Operation *at = stages.front();
    if (!faults.empty())
      at = ops[faults.front().stage][faults.front().position];
    InFlightDiagnostic error = emit(at) << llvm::toString(timeline.takeError());
    for (ActionPlace place : ArrayRef(faults).drop_front(faults.empty() ? 0 : 1))
      error.attachNote(ops[place.stage][place.position].getLoc()) << "this action";
    return error;
  }

  /// Every chunk once with every micro-batch, by actions of the purpose; there are enough of them.
  LogicalResult verifyForward() {
    ActionKind expected = purpose == rank::Purpose::Eval ? ActionKind::Eval : ActionKind::Logits;
    std::map<std::pair<int64_t, int64_t>, Operation *> seen;
    for (const std::vector<rank::EntryOpInterface> &entries : ops)
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

  /// What an action reads of a micro-batch is that micro-batch's: no other one in flight has been written
  /// over it.
  static LogicalResult verifyResiduals(rank::ScheduleOp schedule) {
    llvm::DenseMap<Value, Operation *> writers;
    for (auto entry : schedule.getOps<rank::EntryOpInterface>())
      for (const rank::Access &access : cast<rank::AccessOpInterface>(*entry).getAccesses()) {
        Value buffer = access.operand->get();
        auto slot = buffer.getDefiningOp<rank::SlotOp>();
        if (access.kind != rank::AccessKind::Read) {
          if (access.kind == rank::AccessKind::Write)
            writers[buffer] = entry;
          continue;
        }
        if (slot.getKind() != rank::SlotKind::Residual)
          continue;
        Operation *writer = writers.lookup(buffer);
        if (!writer)
          return emit(entry) << "reads residual \"" << slot.getName()
                             << "\", which no action before it has written";
        int64_t written = cast<rank::EntryOpInterface>(writer).getAction().microBatch,
                wanted = entry.getAction().microBatch;
        if (written < 0 || wanted < 0 || written == wanted)
          continue;
        InFlightDiagnostic error = emit(entry)
                                   << "reads residual \"" << slot.getName() << "\" of micro-batch " << wanted
                                   << ", but micro-batch " << written << " has been written over it";
        error.attachNote(writer->getLoc()) << "here";
        return error;
      }
    return success();
  }

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
      return verifySame(op, sums.at({op.getKind(), static_cast<int64_t>(op.getChunk())}), "adds up",
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

  ModuleOp module;
  rank::Purpose purpose;
  SmallVector<rank::ScheduleOp> stages;
  std::vector<std::vector<rank::EntryOpInterface>> ops;            ///< by stage, beside the lists
  std::map<std::pair<ActionKind, int64_t>, rank::ExchangeOp> sums; ///< the last of each, by kind and set
  std::map<Message::Id, rank::ExchangeOp> sent;
  PipelineSchedule lists;
  int64_t count = 0; ///< of entries
};

struct VerifySchedule : par::impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    for (rank::Purpose purpose : {rank::Purpose::Train, rank::Purpose::Eval, rank::Purpose::Logits})
      if (failed(Step(getOperation(), purpose).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
