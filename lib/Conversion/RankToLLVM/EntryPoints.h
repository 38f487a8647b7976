//===- EntryPoints.h - the runtime's functions as LLVM declarations ---------------------------*- C++ -*-===//
#ifndef PAR_LIB_CONVERSION_ENTRYPOINTS_H
#define PAR_LIB_CONVERSION_ENTRYPOINTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Declares every function of runtime/include/par/EntryPoints.def in a module.
void declareEntryPoints(OpBuilder &builder, ModuleOp module);

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_ENTRYPOINTS_H
