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
        operands.push_back(values.find(operand)->second);
      if (isa<func::ReturnOp>(op))
        return operands;
      FailureOr<SmallVector<Held, 0>> results = step(&op, operands);
      if (failed(results))
        return failure();
      if (!isa<CallOp>(op))
        remember(&op, operands, *results);
      for (auto [value, held] : llvm::zip(op.getResults(), *results))
        values[value] = std::move(held);
    }
    function.emitError("par-prove: the function returns nothing");
    return failure();
  }

  /// The first op that made of values of the reference one that it has not, and from which `wrong` follows;
  /// null: none.
  Operation *findSuspect(const Number &wrong) const {
    std::set<Number> seen;
    SmallVector<Number> left{wrong};
    const Origin *first = nullptr;
    while (!left.empty()) {
      auto at = origins.find(left.pop_back_val());
      if (at == origins.end() || !seen.insert(at->first).second)
        continue;
      const Origin &origin = at->second;
      if (origin.from.empty() && (!first || origin.order < first->order))
        first = &origin;
      left.append(origin.from.begin(), origin.from.end());
    }
    return first ? first->op : nullptr;
  }

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
    if (failed(results)) {
      op->emitError("par-prove: ") << op->getName().stripDialect() << " " << context.reason;
      return failure();
    }
    for (Held &held : *results)
      held.spreadZeros();
    return results;
  }

  /// Keeps of what an op made numbers that the reference has not. Those that follow from nothing, as
  /// constants do, or from coordinates are nobody's fault.
  void remember(Operation *op, ArrayRef<Held> operands, ArrayRef<Held> results) {
    for (const Held &result : results) {
      bool isOfRank = result.affine || result.below || !result.first.empty() || !result.shifts.empty() ||
                      !result.coordinates.empty();
      if (operands.empty() || isOfRank || reference.has(result.what) || origins.count(result.what))
        continue;
      Origin &origin = origins[result.what];
      origin.op = op, origin.order = origins.size();
      for (const Held &operand : operands)
        if (origins.count(operand.what))
          origin.from.push_back(operand.what);
    }
  }

  struct Origin {
    Operation *op = nullptr;
    size_t order = 0;            ///< so many were made before
    SmallVector<Number, 2> from; ///< operands that the reference has not
  };

  SymbolTable symbols;
  MeshAttr mesh;
  OpNumbers &numbers;
  const Reference &reference;
  std::map<Number, Origin> origins; ///< of numbers that the reference has not
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_LOCALPROGRAM_H
