//===- SumOfDots.cpp - sums of products of whole tensors ------------------------------------------------===//
#include "par/Dialect/Par/IR/SumOfDots.h"

using namespace mlir;
using namespace mlir::par;

bool par::isDot(EinsumOp op) {
  return op.getInputs().size() == 2 && op.getType().getRank() == 0 && llvm::all_equal(op.getOperandLetters());
}

SmallVector<EinsumOp> par::findDots(Value sum) {
  SmallVector<EinsumOp> dots;
  SmallVector<Value> terms{sum};
  while (!terms.empty()) {
    Value term = terms.pop_back_val();
    if (term != sum && !term.hasOneUse())
      return {};
    if (auto add = term.getDefiningOp<arith::AddFOp>()) {
      terms.append({add.getRhs(), add.getLhs()}); // the left one is next
      continue;
    }
    auto dot = term.getDefiningOp<EinsumOp>();
    if (!dot || !isDot(dot))
      return {};
    dots.push_back(dot);
  }
  return dots.size() > 1 ? dots : SmallVector<EinsumOp>();
}
