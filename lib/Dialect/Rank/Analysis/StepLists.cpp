//===- StepLists.cpp - the lists that a module's schedules are ------------------------------------------===//
#include "par/Dialect/Rank/Analysis/StepLists.h"
#include "par/Dialect/Par/IR/ParPlan.h"

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::rank;

static InFlightDiagnostic emit(Operation *op) { return op->emitOpError("par-verify-schedule: "); }

namespace {
class Reader {
public:
  Reader(ModuleOp module, Purpose purpose) : module(module), purpose(purpose) {}

  FailureOr<StepLists> run() {
    if (failed(findStages()) || (!step.stages.empty() && failed(readEntries())))
      return failure();
    return std::move(step);
  }

private:
  /// One schedule without a stage, or one per stage.
  LogicalResult findStages() {
    SmallVector<ScheduleOp> all;
    for (auto schedule : module.getOps<ScheduleOp>())
      if (schedule.getPurpose() == purpose)
        all.push_back(schedule);
    step.stages.resize(all.size());
    for (ScheduleOp schedule : all) {
      uint64_t stage = schedule.getStage().value_or(0);
      if (stage >= all.size() || step.stages[stage])
        return emit(schedule) << "is of stage " << stage << ", but the module has " << all.size()
                              << " schedules to " << schedule.getName()
                              << "; expected one of each stage below that";
      step.stages[stage] = schedule;
    }
    return success();
  }

  /// The lists of the stages, and where chunks are.
  LogicalResult readEntries() {
    for (ScheduleOp schedule : step.stages) {
      auto entries = schedule.getOps<EntryOpInterface>();
      step.entries.emplace_back(entries.begin(), entries.end());
      count += static_cast<int64_t>(step.entries.back().size());
    }
    if (PlanAttr plan = getPlan(module); plan && purpose != Purpose::Logits)
      lists.shape.microBatches = std::max<int64_t>(plan.getPlan().microBatches, 1);
    lists.shape.stages = static_cast<int64_t>(step.stages.size());
    lists.step = StepParts{false, false};
    lists.step->forwardOnly = purpose != Purpose::Train;
    for (auto [stage, entries] : llvm::enumerate(step.entries)) {
      lists.stages.emplace_back();
      for (EntryOpInterface op : entries)
        if (failed(readEntry(op, static_cast<int64_t>(stage))))
          return failure();
    }
    return checkShape();
  }

  LogicalResult checkShape() {
    auto chunks = static_cast<int64_t>(lists.stageOfChunk.size());
    // Evaluations end with the last chunk that computes anything.
    bool isUneven = chunks % lists.shape.stages && purpose == Purpose::Train;
    lists.shape.chunksPerStage = llvm::divideCeil(chunks, lists.shape.stages);
    if (chunks == 0 || isUneven || llvm::is_contained(lists.stageOfChunk, -1) ||
        lists.shape.microBatches > count / chunks ||
        llvm::any_of(lists.stages, [](auto &list) { return list.empty(); }))
      return emit(step.stages.front()) << "the step has " << count << " actions for " << step.stages.size()
                                       << " stages, " << chunks << " chunks and " << lists.shape.microBatches
                                       << " micro-batches; expected some on every stage, for every chunk";
    return success();
  }

  LogicalResult readEntry(EntryOpInterface op, int64_t stage) {
    Action action = op.getAction();
    if (action.chunk < 0 || action.chunk >= count || action.microBatch < -1 || action.microBatch >= count)
      return emit(op) << "names chunk " << action.chunk << " and micro-batch " << action.microBatch
                      << ", more than a step of " << count << " actions has";
    lists.stages.back().push_back(action);
    if (isSum(action.kind))
      return readSum(cast<ExchangeOp>(op));
    if (action.chunk >= static_cast<int64_t>(lists.stageOfChunk.size()))
      lists.stageOfChunk.resize(action.chunk + 1, -1);
    if (int64_t &place = lists.stageOfChunk[action.chunk]; place < 0)
      place = stage;
    if (!getPlan(module) || purpose == Purpose::Logits)
      lists.shape.microBatches = std::max(lists.shape.microBatches, action.microBatch + 1);
    lists.step->gathers |= action.kind == ActionKind::Gather;
    lists.step->updates |= action.kind >= ActionKind::BackwardLast && action.kind <= ActionKind::Update;
    return success();
  }

  /// Which stages a sum is of; all of them say the same.
  LogicalResult readSum(ExchangeOp op) {
    ExchangeOp &first = step.sums[{op.getKind(), static_cast<int64_t>(op.getChunk())}];
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

  ModuleOp module;
  Purpose purpose;
  StepLists step;
  PipelineSchedule &lists = step.lists;
  int64_t count = 0; ///< of entries
};
} // namespace

FailureOr<StepLists> StepLists::read(ModuleOp module, Purpose purpose) {
  return Reader(module, purpose).run();
}
