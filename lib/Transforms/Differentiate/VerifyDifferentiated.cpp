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
  /// Functions of one chunk by phase; an absent `par.chunk` is chunk 0.
  using Phases = llvm::StringMap<func::FuncOp>;

  LogicalResult verifyNoMarks(func::FuncOp function);
  LogicalResult verifyAliases(func::FuncOp function);
  LogicalResult verifyResiduals(const Phases &phases);
  LogicalResult collectResiduals(func::FuncOp function, std::map<int64_t, Residual> &residuals);
  LogicalResult useResiduals(func::FuncOp function, std::map<int64_t, Residual> &residuals);
  LogicalResult verifyAccumulators(const Phases &phases, const SymbolTable &symbols);
};

} // namespace

LogicalResult VerifyDifferentiatedPass::verifyNoMarks(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    for (StringRef mark : {StringRef(kSaveAttr), StringRef(kRecomputeAttr)})
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

LogicalResult VerifyDifferentiatedPass::verifyAliases(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto alias = function.getResultAttrOfType<IntegerAttr>(index, ParDialect::kAliasAttr);
    if (!alias)
      continue;
    int64_t argument = alias.getInt();
    if (argument < 0 || argument >= function.getNumArguments())
      return function.emitError("differentiated_c4: @")
             << function.getName() << ": result " << index << " has par.alias = " << argument
             << ", expected one of its " << function.getNumArguments() << " arguments; see par-differentiate";
    if (function.getArgumentTypes()[argument] != function.getResultTypes()[index])
      return function.emitError("differentiated_c4: @")
             << function.getName() << ": result " << index << " has type " << function.getResultTypes()[index]
             << " and is written over argument " << argument << " of type "
             << function.getArgumentTypes()[argument] << "; see par-differentiate";
  }
  return success();
}

LogicalResult VerifyDifferentiatedPass::collectResiduals(func::FuncOp function,
                                                         std::map<int64_t, Residual> &residuals) {
  for (unsigned index = 0; function && index < function.getNumResults(); ++index)
    if (auto number = function.getResultAttrOfType<IntegerAttr>(index, ParDialect::kResidualAttr)) {
      Residual residual{function, function.getResultTypes()[index], getResultSharding(function, index)};
      if (number.getInt() != static_cast<int64_t>(residuals.size()))
        return function.emitError("differentiated_c2: @")
               << function.getName() << ": result " << index << " has par.residual = " << number.getInt()
               << ", expected " << residuals.size() << "; par-differentiate numbers them in order";
      residuals.emplace(number.getInt(), residual);
    }
  return success();
}

LogicalResult VerifyDifferentiatedPass::useResiduals(func::FuncOp function,
                                                     std::map<int64_t, Residual> &residuals) {
  for (unsigned index = 0; function && index < function.getNumArguments(); ++index) {
    auto number = function.getArgAttrOfType<IntegerAttr>(index, ParDialect::kResidualAttr);
    if (!number)
      continue;
    auto found = residuals.find(number.getInt());
    if (found == residuals.end())
      return function.emitError("differentiated_c2: @")
             << function.getName() << ": argument " << index << " takes residual " << number.getInt()
             << ", which no earlier function of its chunk returns; see par-differentiate";
    Residual &residual = found->second;
    residual.used = true;
    auto sharding = function.getArgAttrOfType<ShardingAttr>(index, ParDialect::kShardingAttr);
    if (residual.type == function.getArgumentTypes()[index] && residual.sharding == sharding)
      continue;
    InFlightDiagnostic error = function.emitError("differentiated_c2: @")
                               << function.getName() << ": argument " << index << " takes residual "
                               << number.getInt() << " as " << function.getArgumentTypes()[index];
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

LogicalResult VerifyDifferentiatedPass::verifyResiduals(const Phases &phases) {
  func::FuncOp forward = phases.lookup("forward");
  std::map<int64_t, Residual> residuals;
  if (failed(collectResiduals(forward, residuals)) ||
      failed(useResiduals(phases.lookup("backward"), residuals)) ||
      failed(useResiduals(phases.lookup("backward_input"), residuals)) ||
      failed(collectResiduals(phases.lookup("backward_input"), residuals)) ||
      failed(useResiduals(phases.lookup("backward_weight"), residuals)))
    return failure();
  for (auto &[number, residual] : residuals)
    if (!residual.used)
      return residual.function.emitError("differentiated_c2: @")
             << residual.function.getName() << " returns residual " << number
             << ", which no backward function takes; par-select-residuals should not have saved it";
  return success();
}

/// Variables that `function` both reads and updates.
static DenseSet<StringRef> collectUpdated(func::FuncOp function) {
  DenseSet<StringRef> read, updated;
  if (!function)
    return updated;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (auto bind = function.getArgAttrOfType<FlatSymbolRefAttr>(index, ParDialect::kBindAttr))
      read.insert(bind.getValue());
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (auto bind = function.getResultAttrOfType<FlatSymbolRefAttr>(index, ParDialect::kBindAttr))
      if (read.contains(bind.getValue()))
        updated.insert(bind.getValue());
  return updated;
}

LogicalResult VerifyDifferentiatedPass::verifyAccumulators(const Phases &phases, const SymbolTable &symbols) {
  func::FuncOp forward = phases.lookup("forward"), input = phases.lookup("backward_input");
  DenseSet<StringRef> whole = collectUpdated(phases.lookup("backward")), byInput = collectUpdated(input),
                      byWeight = collectUpdated(phases.lookup("backward_weight"));
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    auto bind = forward.getArgAttrOfType<FlatSymbolRefAttr>(index, ParDialect::kBindAttr);
    auto parameter = bind ? symbols.lookup<VariableOp>(bind.getValue()) : nullptr;
    if (!parameter || parameter.getRole() != Role::Parameter)
      continue;
    std::string name = (bind.getValue() + ".accumulator").str();
    auto accumulator = symbols.lookup<VariableOp>(name);
    if (!accumulator || accumulator.getRole() != Role::Accumulator || accumulator.getOfAttr() != bind)
      return parameter.emitOpError("differentiated_c3: parameter has no accumulator @")
             << name << "; par-differentiate should have added it";
    if (!whole.contains(name))
      return forward.emitError("differentiated_c3: the backward function of @")
             << forward.getName() << " does not read and update @" << name << "; see par-differentiate";
    if (input && byInput.contains(name) == byWeight.contains(name))
      return input.emitError("differentiated_c3: @")
             << name
             << " is not updated by exactly one of backward_input and backward_weight; see par-differentiate";
  }
  return success();
}

void VerifyDifferentiatedPass::runOnOperation() {
  std::map<int64_t, Phases> chunks;
  llvm::StringMap<bool> present;
  SymbolTable symbols(getOperation());
  bool failedAny = false;
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
    failedAny |= failed(verifyNoMarks(function)) || failed(verifyAliases(function));
    auto phase = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr);
    if (!phase)
      continue;
    auto chunk = function->getAttrOfType<IntegerAttr>(ParDialect::kChunkAttr);
    chunks[chunk ? chunk.getInt() : 0][phase.getValue()] = function;
    present[phase.getValue()] = true;
  }
  for (auto &[number, phases] : chunks) {
    func::FuncOp forward = phases.lookup("forward");
    if (!forward)
      continue;
    if (!phases.lookup("backward")) {
      forward.emitError("differentiated_c1: chunk ")
          << number << " has no function with par.phase = \"backward\"; run par-differentiate";
      failedAny = true;
      continue;
    }
    failedAny |= failed(verifyResiduals(phases)) || failed(verifyAccumulators(phases, symbols));
  }
  for (const char *phase : {"reduce", "norm", "update"})
    if (!present.lookup(phase)) {
      getOperation().emitError("differentiated_c5: no function has par.phase = \"")
          << phase << "\"; run par-build-optimizer";
      failedAny = true;
    }
  if (failedAny)
    signalPassFailure();
}
