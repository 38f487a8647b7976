//===- Judge.h - whether ranks compute what one device would -----------------------------------*- C++
//-*-===//
#ifndef PAR_JUDGE_JUDGE_H
#define PAR_JUDGE_JUDGE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Whether every chunk function of `program`, a module behind par-partition, computes on all ranks of its
/// mesh what the function of that name in `reference`, the module before it, computes on one device: equal
/// for all inputs, up to rounding and the order of sums. Trusts no pass: it reads the local functions from
/// their arguments on. Fails after one error at the first op of which it knows nothing, or whose result is
/// not the reference's.
LogicalResult judgeFunctions(ModuleOp reference, ModuleOp program);

} // namespace mlir::par

#endif // PAR_JUDGE_JUDGE_H
