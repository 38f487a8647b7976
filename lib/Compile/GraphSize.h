//===- GraphSize.h - how large what a graph computes is ---------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_GRAPHSIZE_H
#define PAR_LIB_COMPILE_GRAPHSIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Bytes of all values of the module's largest function, callees at every call, four per element: a number
/// without overflow, by which to refuse what cannot be counted exactly.
double countForwardBytes(ModuleOp module);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_GRAPHSIZE_H
