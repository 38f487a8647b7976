//===- DescribeFile.h - a variable's place in files as JSON ----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_DESCRIBEFILE_H
#define PAR_LIB_EMIT_DESCRIBEFILE_H

#include "par/Dialect/Par/IR/Par.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// Of a variable that has one; runtime/core/ManifestFiles.cpp reads it.
llvm::json::Object describeFile(VariableOp variable);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_DESCRIBEFILE_H
