//===- VerifySchedule.cpp - the actions of a module make whole steps ------------------------------------===//
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Schedule/Schedule.h"
#include "par/Transforms/Lower/Passes.h"
#include <map>

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static InFlightDiagnostic emit(Operation *op) { return op->emitOpError("par-verify-schedule: "); }

static Action read(rank::ActionOp op) {
  return {op.getKind(), static_cast<int64_t>(op.getChunk()), static_cast<int64_t>(op.getMicroBatch())};
}

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
    if (failed(readActions()) || failed(purpose == rank::Purpose::Train ? replay() : verifyForward()))
      return failure();
    for (rank::ScheduleOp schedule : stages)
      if (failed(verifyResiduals(schedule)))
        return failure();
    return verifyMessages();
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
  LogicalResult readActions() {
    for (rank::ScheduleOp schedule : stages) {
      auto actions = schedule.getOps<rank::ActionOp>();
      ops.emplace_back(actions.begin(), actions.end());
      count += static_cast<int64_t>(ops.back().size());
    }
    if (PlanAttr plan = getPlan(module); plan && purpose != rank::Purpose::Logits)
      lists.shape.microBatches = std::max<int64_t>(plan.getPlan().microBatches, 1);
    lists.shape.stages = static_cast<int64_t>(stages.size());
    lists.step = StepParts{false, false};
    for (auto [stage, actions] : llvm::enumerate(ops)) {
      lists.stages.emplace_back();
      for (rank::ActionOp op : actions)
        if (failed(readAction(op, static_cast<int64_t>(stage))))
          return failure();
    }
    auto chunks = static_cast<int64_t>(lists.stageOfChunk.size());
    lists.shape.chunksPerStage = chunks / lists.shape.stages;
    if (chunks == 0 || chunks % lists.shape.stages || llvm::is_contained(lists.stageOfChunk, -1) ||
        lists.shape.microBatches > count / chunks ||
        llvm::any_of(lists.stages, [](auto &list) { return list.empty(); }))
      return emit(stages.front()) << "the step has " << count << " actions for " << stages.size()
                                  << " stages, " << chunks << " chunks and " << lists.shape.microBatches
                                  << " micro-batches; expected some on every stage, for every chunk";
    return success();
  }

  LogicalResult readAction(rank::ActionOp op, int64_t stage) {
    Action action = read(op);
    if (action.chunk < 0 || action.chunk >= count || action.microBatch < -1 || action.microBatch >= count)
      return emit(op) << "names chunk " << action.chunk << " and micro-batch " << action.microBatch
                      << ", more than a step of " << count << " actions has";
    if (action.chunk >= static_cast<int64_t>(lists.stageOfChunk.size()))
      lists.stageOfChunk.resize(action.chunk + 1, -1);
    if (int64_t &place = lists.stageOfChunk[action.chunk]; place < 0)
      place = stage;
    if (!getPlan(module) || purpose == rank::Purpose::Logits)
      lists.shape.microBatches = std::max(lists.shape.microBatches, action.microBatch + 1);
    lists.stages.back().push_back(action);
    lists.step->gathers |= action.kind == ActionKind::Gather;
    lists.step->updates |= action.kind >= ActionKind::BackwardLast && action.kind <= ActionKind::Update;
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
    std::map<std::pair<int64_t, int64_t>, rank::ActionOp> seen;
    for (const std::vector<rank::ActionOp> &actions : ops)
      for (rank::ActionOp op : actions) {
        if (op.getKind() != expected)
          return emit(op) << op.getName() << " in a schedule to " << rank::stringifyPurpose(purpose)
                          << "; expected " << stringifyActionKind(expected);
        Action action = read(op);
        if (action.microBatch < 0 || action.microBatch >= lists.shape.microBatches)
          return emit(op) << "is of micro-batch " << action.microBatch << ", expected 0 to "
                          << lists.shape.microBatches - 1;
        auto [first, isNew] = seen.try_emplace({action.chunk, action.microBatch}, op);
        if (isNew)
          continue;
        InFlightDiagnostic error = emit(op) << "is there twice, expected one action of chunk " << action.chunk
                                            << " with micro-batch " << action.microBatch;
        error.attachNote(first->second.getLoc()) << "first here";
        return error;
      }
    return success();
  }

  /// What an action reads of a micro-batch is that micro-batch's: no other one in flight has been written
  /// over it.
  static LogicalResult verifyResiduals(rank::ScheduleOp schedule) {
    llvm::DenseMap<Value, rank::ActionOp> writers;
    for (auto action : schedule.getOps<rank::ActionOp>()) {
      for (Value in : action.getIns()) {
        auto slot = in.getDefiningOp<rank::SlotOp>();
        if (slot.getKind() != rank::SlotKind::Residual)
          continue;
        rank::ActionOp writer = writers.lookup(in);
        if (!writer)
          return emit(action) << "reads residual \"" << slot.getName()
                              << "\", which no action before it has written";
        int64_t written = read(writer).microBatch, wanted = read(action).microBatch;
        if (written < 0 || wanted < 0 || written == wanted)
          continue;
        InFlightDiagnostic error = emit(action)
                                   << "reads residual \"" << slot.getName() << "\" of micro-batch " << wanted
                                   << ", but micro-batch " << written << " has been written over it";
        error.attachNote(writer.getLoc()) << "here";
        return error;
      }
      for (Value out : action.getOuts())
        writers[out] = action;
    }
    return success();
  }

  /// A stage receives what another one sends. The replay has found each message once at both ends.
  LogicalResult verifyMessages() {
    std::map<std::tuple<ActionKind, int64_t, int64_t>, rank::ActionOp> sent;
    for (const std::vector<rank::ActionOp> &actions : ops)
      for (rank::ActionOp op : actions)
        sent[{op.getKind(), read(op).chunk, read(op).microBatch}] = op;
    for (const std::vector<rank::ActionOp> &actions : ops)
      for (rank::ActionOp op : actions) {
        std::optional<Action> sender = getSender(read(op));
        if (!sender)
          continue;
        rank::ActionOp send = sent.at({sender->kind, sender->chunk, sender->microBatch});
        if (send.getIns().getTypes() == op.getOuts().getTypes())
          continue;
        InFlightDiagnostic error = emit(op) << "receives (" << op.getOuts().getTypes() << "), sent is ("
                                            << send.getIns().getTypes() << ")";
        error.attachNote(send.getLoc()) << "sent here";
        return error;
      }
    return success();
  }

  ModuleOp module;
  rank::Purpose purpose;
  SmallVector<rank::ScheduleOp> stages;
  std::vector<std::vector<rank::ActionOp>> ops; ///< by stage, beside the lists
  PipelineSchedule lists;
  int64_t count = 0; ///< of actions
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
