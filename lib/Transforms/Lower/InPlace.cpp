//===- InPlace.cpp - where work may write over what it reads --------------------------------------------===//
#include "InPlace.h"

using namespace mlir;
using namespace mlir::par;

/// A norm's kernel writes its input row by row before it reads anything again.
bool WorkOps::isStaged() const {
  return llvm::any_of(ops, [](Operation *op) { return isa<LayerNormOp, RmsNormOp>(op); });
}

bool WorkOps::isProductSum() const {
  return llvm::any_of(ops, [](Operation *op) { return isa<EinsumOp>(op); }) &&
         llvm::any_of(ops, [](Operation *op) { return isa<arith::AddFOp>(op); });
}

Value WorkOps::findSum(Value out) const {
  if (!isProductSum())
    return {};
  auto add = out.getDefiningOp<arith::AddFOp>();
  while (add && contains(add)) {
    bool isLeft =
        isa_and_nonnull<EinsumOp>(add.getLhs().getDefiningOp()) && contains(add.getLhs().getDefiningOp());
    Value other = isLeft ? add.getRhs() : add.getLhs();
    Operation *maker = other.getDefiningOp();
    if (!maker || !contains(maker))
      return other;
    add = dyn_cast<arith::AddFOp>(maker); // of products joined with the last
  }
  return {};
}

/// Element i of the op's result depends on element i of this operand only.
static bool isElementwise(OpOperand &use) {
  Operation *op = use.getOwner();
  auto kind = dyn_cast<KernelOpInterface>(op);
  if (kind && kind.getKernelKind() == KernelKind::Elementwise)
    return true;
  // Composite ops that need a row's statistics get them as operands.
  if (!isa<AdamWOp, SgdOp, CrossEntropyBackwardOp>(op))
    return false;
  RuleAttr factors = cast<ShardingRuleOpInterface>(op).getShardingRule();
  return factors.getOperands()[use.getOperandNumber()] == factors.getResults()[0];
}

/// Through all ops of the work that the element goes through.
bool WorkOps::staysInPlace(OpOperand &use) const {
  return isElementwise(use) && llvm::all_of(use.getOwner()->getUses(), [&](OpOperand &next) {
           return !contains(next.getOwner()) || staysInPlace(next);
         });
}

/// Element i of what the work makes of this operand depends on element i only, or the op is a reduction over
/// ranks, which may work in place.
bool WorkOps::readsInPlace(OpOperand &use, Value out) const {
  Operation *op = use.getOwner();
  if (isa<AllReduceOp>(op))
    return out == op->getResult(use.getOperandNumber());
  return use.get().getType() == out.getType() && staysInPlace(use);
}

bool WorkOps::mayShare(Value in, Value out) const {
  return !isStaged() && llvm::all_of(in.getUses(), [&](OpOperand &use) {
    return !contains(use.getOwner()) || readsInPlace(use, out);
  });
}
