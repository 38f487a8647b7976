//===- InterpretGraph.cpp - the graph that par-interpret evaluates --------------------------------------===//
#include "InterpretGraph.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/Driver.h"
#include "par/Compile/GraphState.h"
#include "par/Compile/LoadModel.h"
#include "par/Compile/PlanFlags.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> readModel(MLIRContext &context, const InterpretOptions &options) {
  ModelRequest request{options.model, options.overrides, options.has("batch"), options.has("seq")};
  Plan plan = options.plan;
  return loadModel(context, *openModel(options.model), request, PlanWords(), plan);
}

/// Micro-batches for whose tokens a rank program has slots; 0 in a module that is none.
static int64_t countMicroBatches(ModuleOp module, RankedTensorType &tokens) {
  std::set<uint64_t> microBatches;
  module.walk([&](rank::SlotOp slot) {
    auto schedule = dyn_cast<rank::ScheduleOp>(slot->getParentOp());
    if (!schedule || schedule.getPurpose() != rank::Purpose::Train ||
        slot.getInputKind() != InputKind::Tokens)
      return;
    microBatches.insert(slot.getMicroBatch());
    if (slot.getGlobalType())
      tokens = dyn_cast<RankedTensorType>(*slot.getGlobalType());
  });
  return static_cast<int64_t>(microBatches.size());
}

static LogicalResult readSizes(InterpretGraph &graph, const InterpretOptions &options) {
  ModuleOp module = *graph.module;
  RankedTensorType tokens = findTokens(module);
  if (int64_t count = countMicroBatches(module, tokens); count && count != options.plan.microBatches)
    return module.emitError("the rank program has ")
           << count << " micro-batches; give --micro-batches " << count;
  auto model = module->getAttrOfType<DictionaryAttr>(ParDialect::kModelAttr);
  auto vocab = model ? model.getAs<IntegerAttr>("vocab") : IntegerAttr();
  if (!tokens || tokens.getRank() != 2 || !vocab)
    return module.emitError(
        "the graph needs an argument that is #par.place<input tokens> and par.model = {vocab = …}");
  graph.batch = tokens.getDimSize(0);
  graph.seq = tokens.getDimSize(1);
  graph.vocab = vocab.getInt();
  const Plan &plan = options.plan;
  if (options.has("seq") && plan.seq != graph.seq)
    return module.emitError("--seq ")
           << plan.seq << " conflicts with the graph, whose sequences have " << graph.seq << " tokens";
  if (options.has("batch") && plan.batch != graph.batch * plan.microBatches)
    return module.emitError("--batch ") << plan.batch << " conflicts with the graph: " << graph.batch
                                        << " rows times " << options.plan.microBatches << " micro-batches";
  return success();
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// A graph with traces of the phases propagate and cut must have all that they make.
static LogicalResult verifyGiven(ModuleOp module, const Driver &driver) {
  if (isDifferentiated(module))
    return success();
  if (getMesh(module) && isPropagated(module) && failed(driver.verifyGiven(module, CompilePhase::Propagate)))
    return failure();
  return isCut(module) ? driver.verifyGiven(module, CompilePhase::Cut) : success();
}

/// The phases that are missing, in the order of docs/IR.md.
static LogicalResult transform(ModuleOp module, const InterpretOptions &options) {
  bool wanted = options.isPartitioned();
  if (!module.getOps<rank::ScheduleOp>().empty() || isPartitioned(module)) {
    if (!wanted)
      return success();
    return module.emitError("--mesh ")
           << printMesh(options.plan.mesh)
           << " was given but the graph is partitioned already; give one that is not";
  }
  PhaseOptions phases;
  phases.evaluation = false;
  Driver driver(options.plan, phases);
  if (failed(verifyGiven(module, driver)))
    return failure();
  if (wanted && failed(driver.run(module, CompilePhase::Annotate, CompilePhase::Cut)))
    return failure();
  if (options.function == "train" && !isDifferentiated(module) &&
      failed(driver.run(module, CompilePhase::Differentiate)))
    return failure();
  return wanted ? driver.run(module, CompilePhase::Partition) : success();
}

FailureOr<InterpretGraph> par::buildInterpretGraph(MLIRContext &context, const InterpretOptions &options) {
  InterpretGraph graph;
  graph.module = readModel(context, options);
  if (!graph.module || failed(readSizes(graph, options)) || failed(transform(*graph.module, options)))
    return failure();
  return std::move(graph);
}
