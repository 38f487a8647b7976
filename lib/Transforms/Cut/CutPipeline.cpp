//===- CutPipeline.cpp - cuts the model into the chunks of a pipeline's stages --------------------------===//
#include "Cutter.h"
#include "par/Cost/StageCuts.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Schedule/Schedule.h"
#include "par/Support/Bytes.h"
#include "par/Transforms/Cut/Passes.h"
#include "llvm/Support/Format.h"

namespace mlir::par {
#define GEN_PASS_DEF_CUTPIPELINE
#include "par/Transforms/Cut/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct CutPipeline : par::impl::CutPipelineBase<CutPipeline> {
  using CutPipelineBase::CutPipelineBase;

  void runOnOperation() override {
    holders.clear();
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run() {
    FailureOr<func::FuncOp> forward = findForward();
    if (failed(forward))
      return failure();
    FailureOr<std::vector<int64_t>> stageOf = placeChunks();
    if (failed(stageOf))
      return failure();
    if (stageOf->size() == 1)
      return success();
    SymbolTable symbols(getOperation());
    if (failed(cutForward(*forward, *stageOf, symbols)))
      return failure();
    ChunkFunctions functions(getOperation());
    for (Phase phase : {Phase::Eval, Phase::Logits})
      for (func::FuncOp function : functions.getAll(phase))
        if (failed(cutByParameters(function, *stageOf, symbols)))
          return failure();
    return success();
  }

  FailureOr<func::FuncOp> findForward() {
    SmallVector<func::FuncOp> found = ChunkFunctions(getOperation()).getAll(Phase::Forward);
    if (found.size() == 1 && getStage(found[0]) == 0)
      return found[0];
    InFlightDiagnostic error = getOperation().emitError("par-cut-pipeline: the module has ")
                               << found.size() << " functions of phase forward, expected 1";
    for (func::FuncOp function : found)
      error.attachNote(function.getLoc()) << "chunk " << getChunk(function);
    return failure();
  }

  FailureOr<std::vector<int64_t>> placeChunks() {
    llvm::Expected<std::vector<int64_t>> placed = placeChunksOf(schedule, {stages, microBatches, chunks});
    if (placed)
      return std::move(*placed);
    return LogicalResult(getOperation().emitError("par-cut-pipeline: ")
                         << llvm::toString(placed.takeError()));
  }

  //===--------------------------------------------------------------------===//
  // Forward
  //===--------------------------------------------------------------------===//

  LogicalResult cutForward(func::FuncOp forward, ArrayRef<int64_t> stageOf, SymbolTable &symbols) {
    DenseSet<Value> reproducible = collectReproducible(forward);
    Units units(forward, reproducible);
    auto wanted = static_cast<int64_t>(stageOf.size());
    if (wanted > static_cast<int64_t>(units.size()))
      return forward.emitError("par-cut-pipeline: ")
             << wanted << " chunks need as many units, but @" << forward.getName() << " has " << units.size()
             << " (its " << (isa<CallOp>(units.getAnchor(0)) ? "calls" : "ops")
             << "); take fewer stages or chunks";
    std::vector<UnitCost> costs = measureUnits(getOperation(), forward, units);
    std::vector<int64_t> begins(cuts.begin(), cuts.end());
    if (begins.empty())
      begins = chooseStageCuts(llvm::map_to_vector(costs, [](const UnitCost &cost) { return cost.seconds; }),
                               wanted);
    if (failed(checkCuts(forward, begins, units.size(), stageOf.size())))
      return failure();
    llvm::DenseMap<Operation *, int64_t> chunkOf;
    std::vector<std::string> texts; // by unit, for who wants them explained
    for (size_t unit = 0; unit < units.size(); ++unit) {
      int64_t chunk = llvm::upper_bound(begins, static_cast<int64_t>(unit)) - begins.begin();
      for (Operation *op : units[unit])
        chunkOf[op] = chunk;
      if (explain)
        texts.push_back(describe(units.getAnchor(unit), costs[unit], chunk, stageOf[chunk]));
    }
    remarkRuns(units, texts);
    SmallVector<func::FuncOp> written =
        Cutter(forward, reproducible, chunkOf, stageOf).run(forward.getName(), symbols);
    for (func::FuncOp function : written)
      for (BlockArgument argument : function.getArguments())
        if (FlatSymbolRefAttr variable = getVariable(argument))
          holders[variable].insert(getStage(function));
    symbols.erase(forward);
    return success();
  }

  LogicalResult checkCuts(func::FuncOp forward, ArrayRef<int64_t> begins, size_t units, size_t chunkCount) {
    auto fail = [&]() {
      InFlightDiagnostic error = forward.emitError("par-cut-pipeline: cuts ");
      llvm::interleaveComma(begins, error);
      return error;
    };
    if (begins.size() + 1 != chunkCount)
      return fail() << ": " << chunkCount << " chunks begin at " << chunkCount - 1
                    << " units behind the first, but " << begins.size() << " are given";
    int64_t before = 0;
    for (int64_t begin : begins) {
      if (begin <= before || begin >= static_cast<int64_t>(units))
        return fail() << ": " << begin << " is no unit behind " << before << "; @" << forward.getName()
                      << " has units 0 to " << units - 1 << ", and every chunk has one or more";
      before = begin;
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  static std::string describe(Operation *anchor, const UnitCost &cost, int64_t chunk, int64_t stage) {
    int64_t results = 0;
    for (Value result : anchor->getResults())
      results += getLocalBytes(result);
    auto call = dyn_cast<CallOp>(anchor);
    std::string text;
    llvm::raw_string_ostream(text) << " ("
                                   << (call ? "@" + call.getCallee() : anchor->getName().getStringRef())
                                   << "): " << llvm::format("%.3g", cost.seconds * 1e6) << " us, "
                                   << describeBytes(cost.parameterBytes) << " of parameters, hands on "
                                   << describeBytes(results) << "; chunk " << chunk << " on stage " << stage;
    return text;
  }

  /// Neighbours of which the same is to be said, as layers mostly are, have one remark.
  static void remarkRuns(const Units &units, ArrayRef<std::string> texts) {
    for (size_t begin = 0, end; begin < texts.size(); begin = end) {
      end = begin + 1;
      while (end < texts.size() && texts[end] == texts[begin])
        ++end;
      InFlightDiagnostic remark = units.getAnchor(begin)->emitRemark(end - begin > 1 ? "units " : "unit ");
      remark << begin;
      if (end - begin > 1)
        remark << " to " << end - 1 << ", each";
      remark << texts[begin];
    }
  }

  //===--------------------------------------------------------------------===//
  // Evaluations and logits
  //===--------------------------------------------------------------------===//

  /// Whether a stage has what the op reads of variables, directly or through what is computed again.
  bool holdsParameters(Operation *op, const DenseSet<Value> &reproducible, int64_t stage) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      if (Operation *maker = operand.getDefiningOp())
        return !reproducible.contains(operand) || holdsParameters(maker, reproducible, stage);
      auto found = holders.find(getVariable(operand));
      return found == holders.end() || found->second.contains(stage);
    });
  }

  /// Every op is of the first chunk, from those of what it uses on, on whose stage all its parameters are.
  LogicalResult cutByParameters(func::FuncOp function, ArrayRef<int64_t> stageOf, SymbolTable &symbols) {
    DenseSet<Value> reproducible = collectReproducible(function);
    llvm::DenseMap<Operation *, int64_t> chunkOf;
    for (Operation &op : function.front().without_terminator()) {
      if (op.getNumResults() && reproducible.contains(op.getResult(0)))
        continue;
      int64_t chunk = 0;
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp(); maker && chunkOf.contains(maker))
          chunk = std::max(chunk, chunkOf[maker]);
      while (chunk < static_cast<int64_t>(stageOf.size()) &&
             !holdsParameters(&op, reproducible, stageOf[chunk]))
        ++chunk;
      if (chunk == static_cast<int64_t>(stageOf.size()))
        return op.emitOpError(
                   "par-cut-pipeline: no chunk behind what it uses has all parameters of this op of @")
               << function.getName() << "; expected them in the order in which forward reads them";
      chunkOf[&op] = chunk;
    }
    Cutter(function, reproducible, chunkOf, stageOf).run(function.getName(), symbols);
    symbols.erase(function);
    return success();
  }

  llvm::DenseMap<Attribute, llvm::SmallDenseSet<int64_t>> holders; ///< stages by variable
};
} // namespace
