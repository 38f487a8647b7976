//===- InterpretGraph.cpp - the graph that par-interpret evaluates --------------------------------------===//
#include "InterpretGraph.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/Driver.h"
#include "par/Compile/GraphState.h"
#include "par/Compile/LoadModel.h"
#include "par/Compile/PlanFlags.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/io/LossWeights.h"

using namespace mlir;
using namespace mlir::par;
namespace io = ::par::io;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> readModel(MLIRContext &context, const InterpretOptions &options) {
  ModelRequest request{options.model, options.overrides, options.has("batch"), options.has("seq")};
  Plan plan = options.plan;
  return loadModel(context, *openModel(options.model), request, PlanWords(), plan);
}

/// Micro-batches for whose inputs a rank program has slots; 0 in a module that is none.
static int64_t countMicroBatches(ModuleOp module) {
  std::set<uint64_t> microBatches;
  module.walk([&](rank::SlotOp slot) {
    auto schedule = dyn_cast<rank::ScheduleOp>(slot->getParentOp());
    if (!schedule || schedule.getPurpose() != rank::Purpose::Train ||
        slot.getKind() != rank::SlotKind::Input || slot.getInputTime() != InputTime::MicroBatch)
      return;
    microBatches.insert(slot.getMicroBatch());
  });
  return static_cast<int64_t>(microBatches.size());
}

static LogicalResult readSizes(InterpretGraph &graph, const InterpretOptions &options) {
  ModuleOp module = *graph.module;
  GraphRows rows = findRows(module);
  if (int64_t count = countMicroBatches(module); count && count != options.plan.microBatches)
    return module.emitError("the rank program has ")
           << count << " micro-batches; give --micro-batches " << count;
  llvm::Expected<int64_t> vocab = getVocab(module, rows);
  if (!vocab)
    return module.emitError(llvm::toString(vocab.takeError()));
  if (!rows.any)
    return module.emitError("no function has an argument that is supplied for each micro-batch, such as "
                            "#par.place<input tokens>; nothing says how many rows the batch has");
  if (llvm::Error error = checkOpenInputs(module))
    return module.emitError(llvm::toString(std::move(error)));
  graph.batch = rows.any.getDimSize(0);
  graph.seq = rows.getSeq();
  graph.vocab = *vocab;
  const Plan &plan = options.plan;
  if (options.has("seq") && plan.seq != graph.seq)
    return module.emitError("--seq ")
           << plan.seq << " conflicts with the graph, whose sequences have " << graph.seq << " tokens";
  if (options.has("batch") && plan.batch != graph.batch * plan.microBatches)
    return module.emitError("--batch ") << plan.batch << " conflicts with the graph: " << graph.batch
                                        << " rows times " << options.plan.microBatches << " micro-batches";
  return success();
}

/// The weights that a run may give to losses: of a graph, of a differentiated one or of a rank program.
static LogicalResult checkLossWeights(ModuleOp module, const InterpretOptions &options) {
  io::LossWeights known;
  auto add = [&](const std::string &name) { known[StringRef(name).split('.').second.str()] = 1.0; };
  auto addPlace = [&](PlaceAttr place) {
    if (place && place.getInput() == InputKind::LossWeight)
      add(place.getRuntimeName());
    else if (place && place.getOutput() == OutputKind::Loss && hasWeight(place))
      add(PlaceAttr::ofLossWeight(place).getRuntimeName());
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      addPlace(getPlace(function, number));
    for (unsigned number = 0; number < function.getNumResults(); ++number)
      addPlace(getResultPlace(function, number));
  }
  module.walk([&](rank::SlotOp slot) {
    if (slot.getInputKind() == InputKind::LossWeight)
      add(slot.getName().str());
  });
  io::Status status = io::checkLossWeights(options.lossWeights, known, options.model);
  return status.ok() ? success() : LogicalResult(module.emitError(status.message()));
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

FailureOr<InterpretGraph> mlir::par::buildInterpretGraph(MLIRContext &context,
                                                         const InterpretOptions &options) {
  InterpretGraph graph;
  graph.module = readModel(context, options);
  if (!graph.module || failed(readSizes(graph, options)) ||
      failed(checkLossWeights(*graph.module, options)) || failed(transform(*graph.module, options)))
    return failure();
  return std::move(graph);
}
