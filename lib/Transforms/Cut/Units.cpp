//===- Units.cpp - the parts of a forward function between which it may be cut --------------------------===//
#include "par/Transforms/Cut/Units.h"

using namespace mlir;
using namespace mlir::par;

DenseSet<Value> par::collectReproducible(func::FuncOp function) {
  Block &body = function.front();
  DenseSet<Value> values(body.args_begin(), body.args_end());
  for (Operation &op : body.without_terminator()) {
    // An annotation computes nothing.
    bool isCheap = isCheapToRecompute(&op) || getOpClass(&op) == OpClass::Annotation;
    if (isCheap && llvm::all_of(op.getOperands(), [&](Value operand) { return values.contains(operand); }))
      values.insert(op.result_begin(), op.result_end());
  }
  return values;
}

Units::Units(func::FuncOp function, const DenseSet<Value> &reproducible) {
  bool hasCalls = !function.getOps<CallOp>().empty();
  SmallVector<Operation *> before; // the first unit
  for (Operation &op : function.front().without_terminator()) {
    if (op.getNumResults() && reproducible.contains(op.getResult(0)))
      continue;
    if (!hasCalls || isa<CallOp>(op)) {
      units.emplace_back(std::move(before)).push_back(&op);
      before.clear();
      anchors.push_back(&op);
    } else {
      (units.empty() ? before : units.back()).push_back(&op);
    }
  }
}
