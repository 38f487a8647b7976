//===- InterpretGraph.cpp - the graph that par-interpret evaluates --------------------------------------===//
#include "InterpretGraph.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Import/Import.h"
#include "par/Sharding/MeshAxes.h"
#include "par/Support/GraphFile.h"

using namespace mlir;
using namespace mlir::par;

static InFlightDiagnostic error(MLIRContext &context) { return emitError(UnknownLoc::get(&context)); }

/// Ranks that compute different rows of a batch.
static int64_t countDataRanks(const InterpretOptions &options) {
  return par::countDataRanks(llvm::cantFail(parseMeshAxes(options.mesh)));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The batch of a step; by default 8 per data-parallel rank.
static int64_t getStepBatch(const InterpretOptions &options) {
  return options.batch.value_or(8 * countDataRanks(options));
}

static OwningOpRef<ModuleOp> importGraph(MLIRContext &context, const InterpretOptions &options) {
  int64_t batch = getStepBatch(options), parts = options.microBatches * countDataRanks(options);
  if (batch < 1 || batch % parts != 0) {
    error(context) << "--batch " << batch << " is not a positive multiple of micro-batches times dp, "
                   << parts;
    return {};
  }
  ImportOptions import;
  import.model = options.model;
  import.overrides = options.overrides;
  import.seq = options.seq;
  if (!options.dtype.empty())
    import.dtype = options.dtype;
  import.batch = batch / options.microBatches;
  return importModel(context, import);
}

/// The argument that takes the tokens: its logical type gives batch and sequence length.
static RankedTensorType findTokens(ModuleOp module) {
  RankedTensorType found;
  module.walk([&](func::FuncOp function) {
    for (unsigned number = 0; number < function.getNumArguments(); ++number) {
      if (getInput(function, number) == InputKind::Tokens)
        found = getGlobalType(function, number);
    }
  });
  return found;
}

/// Micro-batches for whose tokens a rank program has slots; 0 in a module that is none.
static int64_t countMicroBatches(ModuleOp module, RankedTensorType &tokens) {
  int64_t count = 0;
  auto schedules = module.getOps<rank::ScheduleOp>();
  if (schedules.empty())
    return 0;
  (*schedules.begin()).walk([&](rank::SlotOp slot) {
    if (slot.getKind() != rank::SlotKind::Input || slot.getName() != stringifyInputKind(InputKind::Tokens))
      return;
    ++count;
    if (slot.getGlobalType())
      tokens = dyn_cast<RankedTensorType>(*slot.getGlobalType());
  });
  return count;
}

static LogicalResult readSizes(InterpretGraph &graph, const InterpretOptions &options) {
  ModuleOp module = *graph.module;
  RankedTensorType tokens = findTokens(module);
  if (int64_t count = countMicroBatches(module, tokens); count && count != options.microBatches)
    return module.emitError("the rank program has ")
           << count << " micro-batches; give --micro-batches " << count;
  auto model = module->getAttrOfType<DictionaryAttr>(ParDialect::kModelAttr);
  auto vocab = model ? model.getAs<IntegerAttr>("vocab") : IntegerAttr();
  if (!tokens || !vocab)
    return module.emitError(
        "the graph needs an argument that is #par.place<input tokens> and par.model = {vocab = …}");
  graph.batch = tokens.getDimSize(0);
  graph.seq = tokens.getDimSize(1);
  graph.vocab = vocab.getInt();
  if (options.seq && *options.seq != graph.seq)
    return module.emitError("--seq ")
           << *options.seq << " conflicts with the graph, whose sequences have " << graph.seq << " tokens";
  if (options.batch && *options.batch != graph.batch * options.microBatches)
    return module.emitError("--batch ") << *options.batch << " conflicts with the graph: " << graph.batch
                                        << " rows times " << options.microBatches << " micro-batches";
  return success();
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

static bool hasFunction(ModuleOp module, llvm::function_ref<bool(func::FuncOp)> test) {
  return llvm::any_of(module.getOps<func::FuncOp>(), test);
}

/// The passes that are missing, in the order of docs/IR.md.
static std::string getPipeline(ModuleOp module, const InterpretOptions &options) {
  bool train = options.function == "train";
  bool differentiated = ChunkFunctions(module).isDifferentiated();
  std::string annotate = "par-annotate-pipeline{mesh=" + options.mesh + " zero=" + options.zero +
                         (options.sequenceParallel ? " sequence-parallel=true" : "") +
                         "},par-propagate-shardings";
  std::string differentiate = "par-differentiate-pipeline{evaluation=false optimizer=" + options.optimizer +
                              " grad-type=" + options.gradType + " moment-type=" + options.momentType +
                              (options.splitBackward ? " split=true" : "") +
                              (options.zero3Gather == "per-step" ? " hold-gathered=true}" : "}");
  std::vector<std::string> passes;
  if (!options.mesh.empty())
    passes.push_back(annotate);
  if (train && !differentiated)
    passes.push_back(differentiate);
  if (!options.mesh.empty())
    passes.push_back("par-propagate-shardings,par-insert-reshards,par-pad-for-sharding,par-partition,"
                     "func.func(par-optimize-collectives,par-normalize-collectives),par-verify-partitioned");
  return passes.empty() ? "" : "builtin.module(" + llvm::join(passes, ",") + ")";
}

static LogicalResult transform(ModuleOp module, const InterpretOptions &options) {
  bool lowered = !module.getOps<rank::ScheduleOp>().empty();
  if (lowered ||
      hasFunction(module, [](func::FuncOp function) { return function->hasAttr(ParDialect::kLocalAttr); })) {
    if (options.mesh.empty())
      return success();
    return module.emitError("--mesh ")
           << options.mesh << " was given but the graph is partitioned already; give one that is not";
  }
  std::string text = getPipeline(module, options), problem;
  if (text.empty())
    return success();
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  llvm::raw_string_ostream stream(problem);
  // The anchor is spelled out, so the parsed manager replaces this one's nesting.
  FailureOr<OpPassManager> parsed = parsePassPipeline(text, stream);
  if (failed(parsed))
    return module.emitError("cannot build the pipeline ") << text << ": " << stream.str();
  static_cast<OpPassManager &>(manager) = std::move(*parsed);
  return manager.run(module);
}

FailureOr<InterpretGraph> par::buildInterpretGraph(MLIRContext &context, const InterpretOptions &options) {
  InterpretGraph graph;
  graph.module = options.isGraph() ? parseGraphFile(context, options.model) : importGraph(context, options);
  if (!graph.module || failed(readSizes(graph, options)) || failed(transform(*graph.module, options)))
    return failure();
  return std::move(graph);
}
