//===- ToRank.cpp - the pass par-to-rank --------------------------------------------------------------------===//
#include "ToRank.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_TORANK
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static VariableOp getVariable(func::FuncOp function, Attribute symbol) {
  auto name = dyn_cast_or_null<FlatSymbolRefAttr>(symbol);
  return name ? SymbolTable::lookupNearestSymbolFrom<VariableOp>(function->getParentOp(), name) : nullptr;
}

std::optional<unsigned> par::getOverwrittenArgument(func::FuncOp function, unsigned result) {
  if (auto alias = function.getResultAttrOfType<IntegerAttr>(result, ParDialect::kAliasAttr))
    return alias.getInt();
  VariableOp written = getVariable(function, function.getResultAttr(result, ParDialect::kBindAttr));
  if (!written)
    return std::nullopt;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    VariableOp read = getVariable(function, function.getArgAttr(argument, ParDialect::kBindAttr));
    if (!read)
      continue;
    bool shares = written.getAlias() && *written.getAlias() == read.getSymName() &&
                  function.getArgumentTypes()[argument] == function.getResultTypes()[result];
    if (read == written || shares)
      return argument;
  }
  return std::nullopt;
}

namespace {
struct ToRank : par::impl::ToRankBase<ToRank> {
  using ToRankBase::ToRankBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    // Functions that only other schedules call (logits) are not part of the program.
    llvm::erase_if(functions, [&](func::FuncOp function) { return !isPartOfStep(function); });
    FunctionsByName byName;
    for (auto function : module.getOps<func::FuncOp>())
      byName[function.getSymName()] = function;
    for (func::FuncOp function : functions)
      if (failed(lowerFunction(function, byName)))
        return signalPassFailure();
    if (failed(buildSchedule(module, microBatches)))
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
    module.walk([](Operation *op) { op->removeAttr("par.kernel"); });
  }

  static bool isPartOfStep(func::FuncOp function) {
    auto phase = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr);
    if (phase)
      return phase != "logits";
    auto uses = SymbolTable::getSymbolUses(function, function->getParentOp());
    return uses && llvm::any_of(*uses, [&](SymbolTable::SymbolUse use) {
             auto caller = use.getUser()->getParentOfType<func::FuncOp>();
             return caller && caller != function && isPartOfStep(caller);
           });
  }
};
} // namespace
