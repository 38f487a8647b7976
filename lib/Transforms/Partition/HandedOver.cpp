//===- HandedOver.cpp - what chunk functions hand to each other -----------------------------------------===//
#include "HandedOver.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// The phase that evaluates, or `Forward` and `Backward` of a step; whether it is a residual; the chunk that
/// takes it; its number.
using HandedOver = std::tuple<Phase, bool, int64_t, int64_t>;

/// A result that is handed over.
struct Made {
  func::FuncOp function;
  unsigned result;
};
} // namespace

static std::optional<HandedOver> describe(func::FuncOp function, PlaceAttr place, bool makes) {
  Phase phase = getPhase(function).getPhase();
  int64_t chunk = getChunk(function);
  if (place && place.getResidual())
    return HandedOver(Phase::Forward, true, chunk, *place.getResidual());
  if (!place || !place.getBoundary())
    return std::nullopt;
  bool back = isBackward(phase);
  return HandedOver(back ? Phase::Backward : phase, false, makes ? chunk + (back ? -1 : 1) : chunk,
                    *place.getBoundary());
}

/// Calls `visit` for every argument that takes what a result of another function is.
static LogicalResult forEachTaken(ModuleOp module,
                                  llvm::function_ref<LogicalResult(BlockArgument, const Made &)> visit) {
  ChunkFunctions functions(module);
  std::map<HandedOver, Made> made;
  for (func::FuncOp function : functions.getAll())
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (auto value = describe(function, getResultPlace(function, result), /*makes=*/true))
        made.try_emplace(*value, Made{function, result});
  for (func::FuncOp function : functions.getAll())
    for (BlockArgument argument : function.getArguments())
      if (auto value = describe(function, getPlace(function, argument.getArgNumber()), /*makes=*/false))
        if (auto found = made.find(*value); found != made.end() && failed(visit(argument, found->second)))
          return failure();
  return success();
}

void par::forEachHandedOver(ModuleOp module, llvm::function_ref<void(BlockArgument, Value)> visit) {
  (void)forEachTaken(module, [&](BlockArgument argument, const Made &made) {
    func::FuncOp function = made.function;
    visit(argument, function.front().getTerminator()->getOperand(made.result));
    return success();
  });
}

void par::matchHandedOver(ModuleOp module) {
  (void)forEachTaken(module, [](BlockArgument argument, const Made &made) {
    if (ShardingAttr sharding = getResultSharding(made.function, made.result))
      setSharding(argument, sharding);
    return success();
  });
}

LogicalResult par::verifyHandedOver(ModuleOp module) {
  return forEachTaken(module, [](BlockArgument argument, const Made &made) -> LogicalResult {
    func::FuncOp makes = made.function, takes = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    Type type = makes.getResultTypes()[made.result];
    ShardingAttr sharding = getResultSharding(makes, made.result), taken = getSharding(argument);
    if (argument.getType() == type && taken == sharding)
      return success();
    InFlightDiagnostic error = takes.emitError("par-verify-partitioned: argument ")
                               << argument.getArgNumber() << " of @" << takes.getName() << " is "
                               << argument.getType() << " " << taken << ", but result " << made.result
                               << " of @" << makes.getName() << ", which it is, is " << type << " "
                               << sharding << "; par-insert-reshards gives both one sharding";
    error.attachNote(makes.getLoc()) << "the function that makes it";
    return error;
  });
}
