//===- VerifyDifferentiated.cpp - checks the form of docs/IR.md section 3 -------------------------------===//
#include "Activity.h"
#include "par/Transforms/Differentiate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYDIFFERENTIATED
#include "par/Transforms/Differentiate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {

/// A residual where it is produced.
struct Residual {
  func::FuncOp function;
  Type type;
  ShardingAttr sharding;
  bool used = false;
};

struct VerifyDifferentiatedPass : public par::impl::VerifyDifferentiatedBase<VerifyDifferentiatedPass> {
  void runOnOperation() override;

private:
  LogicalResult verifyNoMarks(func::FuncOp function);
  LogicalResult verifyResiduals(const ChunkFunctions &functions, int64_t chunk);
  LogicalResult collectResiduals(func::FuncOp function, std::map<int64_t, Residual> &residuals);
  LogicalResult useResiduals(func::FuncOp function, func::FuncOp forward,
                             std::map<int64_t, Residual> &residuals);
  LogicalResult verifyAccumulators(const ChunkFunctions &functions, int64_t chunk,
                                   const SymbolTable &symbols);
};

} // namespace

LogicalResult VerifyDifferentiatedPass::verifyNoMarks(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    for (StringRef mark : {StringRef(ParDialect::kSaveAttr), StringRef(ParDialect::kRecomputeAttr)})
      if (op->hasAttr(mark)) {
        op->emitOpError("differentiated_c1: ")
            << mark
            << " is left; par-differentiate should have turned it into a residual or an op of backward";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult VerifyDifferentiatedPass::collectResiduals(func::FuncOp function,
                                                         std::map<int64_t, Residual> &residuals) {
  for (unsigned index = 0; function && index < function.getNumResults(); ++index)
    if (std::optional<int64_t> number = getResultResidual(function, index)) {
      Residual residual{function, function.getResultTypes()[index], getResultSharding(function, index)};
      if (*number != static_cast<int64_t>(residuals.size()))
        return function.emitError("differentiated_c2: @")
               << function.getName() << ": result " << index << " is residual " << *number << ", expected "
               << residuals.size() << "; par-differentiate numbers them in order";
      residuals.emplace(*number, residual);
    }
  return success();
}

LogicalResult VerifyDifferentiatedPass::useResiduals(func::FuncOp function, func::FuncOp forward,
                                                     std::map<int64_t, Residual> &residuals) {
  for (unsigned index = 0; function && index < function.getNumArguments(); ++index) {
    std::optional<int64_t> number = getResidual(function, index);
    if (!number)
      continue;
    auto found = residuals.find(*number);
    if (found == residuals.end()) {
      InFlightDiagnostic error = function.emitError("differentiated_c2: @")
                                 << function.getName() << ": argument " << index << " takes residual "
                                 << *number
                                 << ", which no earlier function of its chunk returns; see par-differentiate";
      error.attachNote(forward.getLoc()) << "@" << forward.getName() << " runs before it";
      return error;
    }
    Residual &residual = found->second;
    residual.used = true;
    auto sharding = function.getArgAttrOfType<ShardingAttr>(index, ParDialect::kShardingAttr);
    if (residual.type == function.getArgumentTypes()[index] && residual.sharding == sharding)
      continue;
    InFlightDiagnostic error = function.emitError("differentiated_c2: @")
                               << function.getName() << ": argument " << index << " takes residual "
                               << *number << " as " << function.getArgumentTypes()[index];
    if (sharding)
      error << " " << sharding;
    error << ", not as it is returned; see par-differentiate";
    Diagnostic &note = error.attachNote(residual.function.getLoc()) << "returned as " << residual.type;
    if (residual.sharding)
      note << " " << residual.sharding;
    return error;
  }
  return success();
}

LogicalResult VerifyDifferentiatedPass::verifyResiduals(const ChunkFunctions &functions, int64_t chunk) {
  std::map<int64_t, Residual> residuals;
  func::FuncOp forward = functions.find(Phase::Forward, chunk),
               backward = functions.find(Phase::Backward, chunk);
  if (failed(collectResiduals(forward, residuals)) || failed(useResiduals(backward, forward, residuals)) ||
      failed(useResiduals(functions.find(Phase::BackwardInput, chunk), forward, residuals)) ||
      failed(collectResiduals(functions.find(Phase::BackwardInput, chunk), residuals)) ||
      failed(useResiduals(functions.find(Phase::BackwardWeight, chunk), forward, residuals)))
    return failure();
  for (auto &[number, residual] : residuals)
    if (!residual.used) {
      InFlightDiagnostic error =
          residual.function.emitError("differentiated_c2: @")
          << residual.function.getName() << " returns residual " << number
          << ", which no backward function takes; par-select-residuals should not have saved it";
      error.attachNote(backward.getLoc()) << "its backward function";
      return error;
    }
  return success();
}

/// Variables that `function` both reads and updates.
static DenseSet<StringRef> collectUpdated(func::FuncOp function) {
  DenseSet<StringRef> read, updated;
  if (!function)
    return updated;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (FlatSymbolRefAttr bind = getVariable(function, index))
      read.insert(bind.getValue());
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (FlatSymbolRefAttr bind = getResultVariable(function, index))
      if (read.contains(bind.getValue()))
        updated.insert(bind.getValue());
  return updated;
}

LogicalResult VerifyDifferentiatedPass::verifyAccumulators(const ChunkFunctions &functions, int64_t chunk,
                                                           const SymbolTable &symbols) {
  func::FuncOp forward = functions.find(Phase::Forward, chunk),
               input = functions.find(Phase::BackwardInput, chunk);
  DenseSet<StringRef> whole = collectUpdated(functions.find(Phase::Backward, chunk)),
                      byInput = collectUpdated(input),
                      byWeight = collectUpdated(functions.find(Phase::BackwardWeight, chunk));
  llvm::DenseMap<Attribute, VariableOp> accumulators = collectAccumulators(getOperation());
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    FlatSymbolRefAttr bind = getVariable(forward, index);
    auto parameter = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : nullptr;
    if (!parameter || !parameter.isTrained())
      continue;
    VariableOp accumulator = accumulators.lookup(bind);
    if (!accumulator)
      return parameter.emitOpError(
          "differentiated_c3: parameter has no accumulator; par-differentiate should have added it");
    StringRef name = accumulator.getSymName();
    bool isLost = !whole.contains(name), isTwice = input && byInput.contains(name) == byWeight.contains(name);
    if (!isLost && !isTwice)
      continue;
    InFlightDiagnostic error = (isLost ? forward : input).emitError("differentiated_c3: ");
    if (isLost)
      error << "the backward function of @" << forward.getName() << " does not read and update @" << name;
    else
      error << "@" << name << " is not updated by exactly one of backward_input and backward_weight";
    error << "; see par-differentiate";
    error.attachNote(accumulator.getLoc()) << "it accumulates the gradient of @" << parameter.getSymName();
    return error;
  }
  return success();
}

void VerifyDifferentiatedPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  ChunkFunctions functions(getOperation());
  bool failedAny = false;
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
    failedAny |= failed(verifyNoMarks(function));
  for (func::FuncOp forward : functions.getAll(Phase::Forward)) {
    int64_t chunk = getChunk(forward);
    if (!functions.find(Phase::Backward, chunk)) {
      forward.emitError("differentiated_c1: chunk ")
          << chunk << " has no function of phase backward; run par-differentiate";
      failedAny = true;
      continue;
    }
    failedAny |=
        failed(verifyResiduals(functions, chunk)) || failed(verifyAccumulators(functions, chunk, symbols));
  }
  for (Phase phase : {Phase::Reduce, Phase::Norm, Phase::Update})
    if (!functions.has(phase)) {
      getOperation().emitError("differentiated_c4: no function is of phase ")
          << stringifyPhase(phase) << "; run par-build-optimizer";
      failedAny = true;
    }
  if (failedAny)
    signalPassFailure();
}
