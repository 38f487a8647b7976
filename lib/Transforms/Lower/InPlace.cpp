//===- InPlace.cpp - where work may write over what it reads --------------------------------------------===//
#include "InPlace.h"
#include "par/Dialect/Par/IR/RelatedOps.h"
#include "par/Dialect/Rank/IR/Epilogue.h"

using namespace mlir;
using namespace mlir::par;

static bool writesBeforeItReads(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && kernel.writesBeforeItReads();
}

bool par::isProductSum(ArrayRef<Operation *> ops) {
  return llvm::any_of(ops, llvm::IsaPred<EinsumOp>) && llvm::any_of(ops, llvm::IsaPred<arith::AddFOp>);
}

Value par::findSum(ArrayRef<Operation *> ops, Value out) {
  auto isInside = [&](Operation *op) { return op && llvm::is_contained(ops, op); };
  auto add = isProductSum(ops) ? out.getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  while (add && isInside(add)) {
    Operation *left = add.getLhs().getDefiningOp();
    Value other = isInside(left) && isa<EinsumOp>(left) ? add.getRhs() : add.getLhs();
    if (!isInside(other.getDefiningOp()))
      return other;
    add = other.getDefiningOp<arith::AddFOp>(); // of products joined with the last
  }
  return {};
}

/// Through all ops of the work that the element goes through.
static bool staysInPlace(ArrayRef<Operation *> ops, OpOperand &use) {
  auto kernel = dyn_cast<KernelOpInterface>(use.getOwner());
  return kernel && kernel.readsInPlace(use.getOperandNumber()) &&
         llvm::all_of(use.getOwner()->getUses(), [&](OpOperand &next) {
           return !llvm::is_contained(ops, next.getOwner()) || staysInPlace(ops, next);
         });
}

/// Element i of what the work makes of this operand depends on element i only, or the op is a collective that
/// works in place.
static bool readsInPlace(ArrayRef<Operation *> ops, OpOperand &use, Value out) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(use.getOwner()))
    return collective.worksInPlace() && out == collective->getResult(use.getOperandNumber());
  return use.get().getType() == out.getType() && staysInPlace(ops, use);
}

/// GELU's input beside a product: the library says nothing of when it reads it and when it writes the result.
static bool readsBesideProduct(ArrayRef<Operation *> ops, Value in) {
  return llvm::any_of(ops, [&](Operation *op) {
    auto product = dyn_cast<EinsumOp>(op);
    std::optional<rank::ProductEpilogue> epilogue = product ? rank::matchEpilogue(product) : std::nullopt;
    return epilogue && epilogue->aux == in;
  });
}

bool par::mayShare(ArrayRef<Operation *> ops, Value in, Value out) {
  if (readsBesideProduct(ops, in))
    return false;
  OpSet related = findRelatedOps(OpSet(ops.begin(), ops.end()), out.getDefiningOp());
  return llvm::none_of(ops, writesBeforeItReads) && llvm::all_of(in.getUses(), [&](OpOperand &use) {
           return !llvm::is_contained(ops, use.getOwner()) ||
                  (related.contains(use.getOwner()) && readsInPlace(ops, use, out));
         });
}
