//===- InPlace.cpp - where work may write over what it reads --------------------------------------------===//
#include "InPlace.h"

using namespace mlir;
using namespace mlir::par;

bool WorkOps::writesBeforeItReads() const {
  return llvm::any_of(ops, [](Operation *op) {
    auto kernel = dyn_cast<KernelOpInterface>(op);
    return kernel && kernel.writesBeforeItReads();
  });
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

/// Through all ops of the work that the element goes through.
bool WorkOps::staysInPlace(OpOperand &use) const {
  auto kernel = dyn_cast<KernelOpInterface>(use.getOwner());
  return kernel && kernel.readsInPlace(use.getOperandNumber()) &&
         llvm::all_of(use.getOwner()->getUses(),
                      [&](OpOperand &next) { return !contains(next.getOwner()) || staysInPlace(next); });
}

/// Element i of what the work makes of this operand depends on element i only, or the op is a collective that
/// works in place.
bool WorkOps::readsInPlace(OpOperand &use, Value out) const {
  if (auto collective = dyn_cast<CollectiveOpInterface>(use.getOwner()))
    return collective.worksInPlace() && out == collective->getResult(use.getOperandNumber());
  return use.get().getType() == out.getType() && staysInPlace(use);
}

bool WorkOps::mayShare(Value in, Value out) const {
  return !writesBeforeItReads() && llvm::all_of(in.getUses(), [&](OpOperand &use) {
    return !contains(use.getOwner()) || readsInPlace(use, out);
  });
}
