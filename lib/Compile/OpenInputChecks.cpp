//===- OpenInputChecks.cpp - what inputs with names of a graph's own must be ----------------------------===//
#include "par/Compile/GraphState.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Support/MakeError.h"

using namespace mlir;
using namespace mlir::par;
using llvm::Error;

namespace {
/// Finds the open input that integers are made of.
class InputSearch {
public:
  explicit InputSearch(ModuleOp module) : module(module), symbols(module) {}

  /// Null if there is none.
  PlaceAttr find(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getElementType().isInteger() || !seen.insert(value).second)
      return nullptr;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return findArgument(argument);
    Operation *op = value.getDefiningOp();
    if (auto call = dyn_cast<CallOp>(op))
      return find(symbols.lookup<func::FuncOp>(call.getCallee())
                      .front()
                      .getTerminator()
                      ->getOperand(cast<OpResult>(value).getResultNumber()));
    return findAny(op->getOperands());
  }

private:
  PlaceAttr findAny(ValueRange values) {
    for (Value value : values)
      if (PlaceAttr found = find(value))
        return found;
    return nullptr;
  }

  PlaceAttr findArgument(BlockArgument argument) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    PlaceAttr place = function ? getPlace(function, argument.getArgNumber()) : PlaceAttr();
    if (!function || place)
      return place && place.getOpenInput() ? place : nullptr;
    SmallVector<Value> passed;
    module.walk([&](CallOp call) {
      if (call.getCallee() == function.getSymName())
        passed.push_back(call.getOperand(argument.getArgNumber()));
    });
    return findAny(passed);
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseSet<Value> seen;
};
} // namespace

static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// All that is read in rows has those of one batch.
static Error checkRows(ModuleOp module) {
  GraphRows rows = findRows(module);
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned number = 0; number < function.getNumArguments(); ++number) {
      PlaceAttr place = getPlace(function, number);
      if (!place || !place.getOpenInput() || place.getInputReader() != "rows")
        continue;
      int64_t own = getGlobalType(function, number).getDimSize(0), first = rows.any.getDimSize(0);
      if (own != first)
        return makeError(print(place) + " has " + llvm::Twine(own) +
                         " rows, but the first input of a micro-batch has " + llvm::Twine(first) +
                         "; dimension 0 of all of them is the batch");
    }
  return Error::success();
}

Error par::checkOpenInputs(ModuleOp module) {
  if (Error error = checkRows(module))
    return error;
  PlaceAttr found;
  module.walk([&](EmbeddingOp op) {
    found = InputSearch(module).find(op.getIds());
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found ? makeError("par.embedding looks up rows by " + print(found) +
                           ", whose numbers nobody checks; use par.take_rows, which takes any")
               : Error::success();
}
