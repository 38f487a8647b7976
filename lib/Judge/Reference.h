//===- Reference.h - numbers of what one device computes ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_REFERENCE_H
#define PAR_LIB_JUDGE_REFERENCE_H

#include "OpNumbers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace mlir::par {

/// Numbers of what one device computes.
class Reference {
public:
  Reference(ModuleOp module, OpNumbers &numbers) : symbols(module), numbers(numbers) {}

  func::FuncOp find(StringRef name) { return symbols.lookup<func::FuncOp>(name); }

  FailureOr<SmallVector<Number>> evaluate(func::FuncOp function, ArrayRef<Number> arguments) {
    llvm::DenseMap<Value, Number> values;
    for (auto [argument, number] : llvm::zip(function.getArguments(), arguments))
      values[argument] = number;
    for (Operation &op : function.getBody().front()) {
      SmallVector<Number> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      if (isa<func::ReturnOp>(op))
        return operands;
      FailureOr<SmallVector<Number>> results = step(&op, operands);
      if (failed(results))
        return failure();
      for (auto [value, number] : llvm::zip(op.getResults(), *results)) {
        values[value] = number;
        known.insert(number);
      }
    }
    function.emitError("par-prove: the function returns nothing");
    return failure();
  }

  /// Whether one device computes such a value.
  bool has(const Number &number) const { return known.count(number); }
  void add(const Number &number) { known.insert(number); }

private:
  FailureOr<SmallVector<Number>> step(Operation *op, ArrayRef<Number> operands) {
    if (auto call = dyn_cast<CallOp>(op)) {
      func::FuncOp callee = find(call.getCallee());
      if (!callee || call.getParts() != 1) {
        op->emitError("par-prove: the reference calls @")
            << call.getCallee() << (callee ? " in parts; give the module before that" : ", which it lacks");
        return failure();
      }
      return evaluate(callee, operands);
    }
    return numbers.get(op, operands);
  }

  SymbolTable symbols;
  OpNumbers &numbers;
  std::set<Number> known;
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_REFERENCE_H
