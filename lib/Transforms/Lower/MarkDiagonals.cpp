//===- MarkDiagonals.cpp - positions of a library's op that are one sequence ----------------------------===//
#include "MarkDiagonals.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class Positions {
public:
  Positions(const Callers &callers, const ConstantValues &constants)
      : callers(callers), constants(constants) {}

  bool areOneSequence(Value a, Value b) const {
    std::optional<Sequence> ofA = find(a), ofB = find(b);
    return ofA && ofB && ofA->step == 1 && ofB->step == 1 && ofA->first == ofB->first;
  }

private:
  /// What every call gives an argument.
  std::optional<Sequence> find(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return findSequence(value);
    if (!constants.contains(value))
      return std::nullopt;
    std::optional<Sequence> common;
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    for (par::CallOp call : callers.getCalls(function)) {
      std::optional<Sequence> given = find(call.getInputs()[argument.getArgNumber()]);
      if (!given || (common && (common->first != given->first || common->step != given->step)))
        return std::nullopt;
      common = given;
    }
    return common;
  }

  const Callers &callers;
  const ConstantValues &constants;
};
} // namespace

void par::markDiagonals(const Callers &callers, const ConstantValues &constants) {
  Positions positions(callers, constants);
  for (func::FuncOp function : callers.getCalleesFirst())
    for (auto op : function.getOps<LibraryOpInterface>())
      op.noteSequences([&](Value a, Value b) { return positions.areOneSequence(a, b); });
}
