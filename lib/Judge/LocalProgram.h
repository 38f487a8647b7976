//===- LocalProgram.h - what ranks hold of a program's values ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_LOCALPROGRAM_H
#define PAR_LIB_JUDGE_LOCALPROGRAM_H

#include "Lemma.h"
#include "Reference.h"

namespace mlir::par {

/// A rank's program, and what ranks hold of its values.
class LocalProgram {
public:
  LocalProgram(ModuleOp module, MeshAttr mesh, OpNumbers &numbers, const Reference &reference)
      : symbols(module), mesh(mesh), numbers(numbers), reference(reference) {}

  FailureOr<SmallVector<Held, 0>> evaluate(func::FuncOp function, ArrayRef<Held> arguments) {
    llvm::DenseMap<Value, Held> values;
    for (auto [argument, held] : llvm::zip(function.getArguments(), arguments))
      values[argument] = held;
    for (Operation &op : function.getBody().front()) {
      SmallVector<Held, 0> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      if (isa<func::ReturnOp>(op))
        return operands;
      FailureOr<SmallVector<Held, 0>> results = step(&op, operands);
      if (failed(results))
        return failure();
      for (auto [value, held] : llvm::zip(op.getResults(), *results))
        values[value] = held;
      suspect(&op, operands, *results);
    }
    function.emitError("par-prove: the function returns nothing");
    return failure();
  }

  /// The first op whose results are not the reference's although its operands are; null: none.
  Operation *getSuspect() const { return suspected; }
  void clearSuspect() { suspected = nullptr; }

private:
  FailureOr<SmallVector<Held, 0>> step(Operation *op, ArrayRef<Held> operands) {
    if (auto call = dyn_cast<CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || call.getParts() != 1) {
        op->emitError("par-prove: the program calls @")
            << call.getCallee() << (callee ? " in parts; give the module before that" : ", which it lacks");
        return failure();
      }
      return evaluate(callee, operands);
    }
    auto isKnown = [this](const Number &number) { return reference.has(number); };
    LemmaContext context(op, operands, mesh, numbers, isKnown);
    FailureOr<SmallVector<Held, 0>> results = applyLemma(context);
    if (failed(results))
      op->emitError("par-prove: ") << op->getName().stripDialect() << " " << context.reason;
    return results;
  }

  void suspect(Operation *op, ArrayRef<Held> operands, ArrayRef<Held> results) {
    auto isKnown = [&](const Held &held) { return reference.has(held.what); };
    if (!suspected && !isa<CallOp>(op) && !operands.empty() && llvm::all_of(operands, isKnown) &&
        !llvm::all_of(results, isKnown))
      suspected = op;
  }

  SymbolTable symbols;
  MeshAttr mesh;
  OpNumbers &numbers;
  const Reference &reference;
  Operation *suspected = nullptr;
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_LOCALPROGRAM_H
