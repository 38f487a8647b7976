//===- SimplifyOps.h - smaller programs, whatever they compute --------------------------------*- C++ -*-===//
#ifndef PAR_REDUCE_SIMPLIFYOPS_H
#define PAR_REDUCE_SIMPLIFYOPS_H

namespace mlir::par {

/// The pass `par-simplify-ops`: one op after the other gives way to an operand or to zeros, or goes with its
/// function, as long as the test script finds the rest interesting (exit code 1, as for MLIR's own reduction
/// passes, which leave the bodies of functions alone).
void registerSimplifyOps();

} // namespace mlir::par

#endif // PAR_REDUCE_SIMPLIFYOPS_H
