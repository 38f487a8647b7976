//===- MarkDiagonals.cpp - attention whose mask is a diagonal -------------------------------------------===//
#include "MarkDiagonals.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class Positions {
public:
  Positions(const Callers &callers, const ConstantValues &constants)
      : callers(callers), constants(constants) {}

  bool areOneSequence(Value q, Value k) const {
    std::optional<Sequence> ofQ = find(q), ofK = find(k);
    return ofQ && ofK && ofQ->step == 1 && ofK->step == 1 && ofQ->first == ofK->first;
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

template <typename Op>
static void mark(func::FuncOp function, const Positions &positions) {
  for (auto op : function.getOps<Op>()) {
    bool isSquare = op.getQ().getType().getDimSize(1) == op.getK().getType().getDimSize(1);
    if (isSquare && positions.areOneSequence(op.getQPositions(), op.getKPositions()))
      op.setDiagonal(true);
  }
}

void par::markDiagonals(const Callers &callers, const ConstantValues &constants) {
  Positions positions(callers, constants);
  for (func::FuncOp function : callers.getCalleesFirst()) {
    mark<par::AttentionOp>(function, positions);
    mark<AttentionBackwardOp>(function, positions);
  }
}
