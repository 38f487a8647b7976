//===- Judge.h - whether ranks compute what one device would -----------------------------*- C++ -*-===//
#ifndef PAR_JUDGE_JUDGE_H
#define PAR_JUDGE_JUDGE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Whether the forward and backward functions of `step`, a differentiated module, add to variables what
/// `graph`, the model as it was imported, says: its losses, and the derivatives of their sum by every
/// parameter that has an accumulator. Fails after one error.
LogicalResult judgeDerivative(ModuleOp graph, ModuleOp step);

/// Whether what every chunk function of `program` writes, returns and sends is on all ranks of its mesh what
/// the function of that phase in `reference` computes on one device: equal for all inputs, up to rounding and
/// the order of sums. `reference` is the differentiated module, `program` the one behind par-partition,
/// overlapped or not. Trusts no pass: it reads the local functions from their arguments on. Fails after one
/// error at the first op of which it knows nothing, or whose result is not the reference's.
LogicalResult judgeFunctions(ModuleOp reference, ModuleOp program);

} // namespace mlir::par

#endif // PAR_JUDGE_JUDGE_H
