//===- BuildSchedules.cpp - the schedules of all purposes and stages -------------------------------------===//
#include "StageSchedule.h"
#include "ToRank.h"
#include "par/Cost/FunctionTimes.h"
#include "par/Schedule/SynthesizeSchedule.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Builds the schedules of all purposes and stages.
class SchedulesBuilder {
public:
  SchedulesBuilder(ModuleOp module, int64_t microBatches)
      : module(module), microBatches(microBatches), functions(module), symbols(module) {}

  LogicalResult run(StringRef name) {
    FailureOr<PipelineSchedule> train = buildTrain(name);
    if (failed(train) || failed(build(rank::Purpose::Train, *train)))
      return failure();
    // Forward only, and only where the graph has the functions.
    for (auto [purpose, kind, runs] : {std::tuple{rank::Purpose::Eval, ActionKind::Eval, microBatches},
                                       std::tuple{rank::Purpose::Logits, ActionKind::Logits, int64_t(1)}})
      if (functions.has(static_cast<Phase>(kind)) &&
          failed(build(purpose, buildForwardOnly(kind, runs, listStages(static_cast<Phase>(kind))))))
        return failure();
    return success();
  }

private:
  FailureOr<PipelineSchedule> buildTrain(StringRef name) {
    std::vector<int64_t> stageOf = functions.getStages();
    if (stageOf.empty())
      stageOf.push_back(0);
    int64_t stages = *llvm::max_element(stageOf) + 1, chunks = static_cast<int64_t>(stageOf.size());
    PipelineShape shape{stages, microBatches, chunks / stages};
    llvm::Expected<PipelineSchedule> schedule =
        name == kAutoSchedule ? synthesizeSchedule(shape, measureChunks(chunks), ScheduleMemory())
                              : buildSchedule(name, shape);
    if (!schedule)
      return LogicalResult(module.emitError("par-to-rank: ") << llvm::toString(schedule.takeError()));
    for (func::FuncOp function : functions.getAll())
      if (int64_t chunk = getChunk(function);
          chunk >= schedule->getNumChunks() || schedule->stageOfChunk[chunk] != getStage(function))
        return LogicalResult(
            function.emitError("par-to-rank: @")
            << function.getName() << " is of chunk " << chunk << " on stage " << getStage(function)
            << "; schedule " << name << " has " << schedule->getNumChunks() << " chunks on " << stages
            << " stages"
            << (chunk < schedule->getNumChunks()
                    ? " and this one on stage " + std::to_string(schedule->stageOfChunk[chunk])
                    : ""));
    StepParts parts;
    parts.gathers = functions.has(Phase::Gather);
    parts.reducesInLast = functions.getReducedInLast();
    for (auto &[tiedStages, variables] : findTied())
      parts.tied.push_back(tiedStages);
    return completeStep(std::move(*schedule), std::move(parts));
  }

  /// By the cost model, on this module's target.
  StepTimes measureChunks(int64_t chunks) {
    const DeviceRates &rates = getTarget(module)->rates;
    FunctionTimes times(module, rates);
    auto measure = [&](Phase phase, int64_t chunk) {
      func::FuncOp function = functions.find(phase, chunk);
      return function ? times.measure(function) : 0;
    };
    StepTimes step;
    step.chunks.clear();
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      step.chunks.push_back({measure(Phase::Forward, chunk), measure(Phase::BackwardInput, chunk),
                             measure(Phase::BackwardWeight, chunk), measureTransfer(chunk, rates)});
    return step;
  }

  /// Over the cut behind a chunk: what its results take on the link.
  double measureTransfer(int64_t chunk, const DeviceRates &rates) {
    func::FuncOp function = functions.find(Phase::Forward, chunk);
    double bytes = 0;
    for (unsigned result = 0; function && result < function.getNumResults(); ++result)
      if (PlaceAttr place = getResultPlace(function, result); place && place.getBoundary())
        bytes += double(rank::getBytes(function.getResultTypes()[result]));
    return bytes > 0 ? rates.latency + bytes / rates.link : 0;
  }

  /// By chunk, up to the last one that has a function of the phase.
  std::vector<int64_t> listStages(Phase phase) const {
    std::vector<int64_t> stageOf = functions.getStages();
    stageOf.resize(size_t(getChunk(functions.getAll(phase).back())) + 1);
    return stageOf;
  }

  /// Gradients that functions of several stages know.
  const TiedGradients &findTied() {
    llvm::DenseMap<Attribute, std::set<int64_t>> stagesOf;
    for (func::FuncOp function : functions.getAll()) {
      for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
        if (FlatSymbolRefAttr variable = getVariable(function, argument))
          stagesOf[variable.getAttr()].insert(getStage(function));
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (FlatSymbolRefAttr variable = getResultVariable(function, result))
          stagesOf[variable.getAttr()].insert(getStage(function));
    }
    for (auto variable : module.getOps<VariableOp>())
      if (const std::set<int64_t> &stages = stagesOf[variable.getSymNameAttr()];
          variable.getRole() == Role::Gradient && stages.size() > 1)
        tied[std::vector<int64_t>(stages.begin(), stages.end())].push_back(variable);
    return tied;
  }

  LogicalResult build(rank::Purpose purpose, const PipelineSchedule &lists) {
    for (size_t stage = 0; stage < lists.stages.size(); ++stage)
      if (failed(buildStageSchedule(functions, symbols, purpose, lists, stage, tied)))
        return failure();
    return success();
  }

  ModuleOp module;
  int64_t microBatches;
  ChunkFunctions functions;
  SymbolTable symbols;
  TiedGradients tied;
};
} // namespace

LogicalResult par::buildSchedules(ModuleOp module, int64_t microBatches, StringRef name) {
  return SchedulesBuilder(module, microBatches).run(name);
}
