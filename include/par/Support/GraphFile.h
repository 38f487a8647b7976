//===- GraphFile.h - the text of a graph, before it is parsed ---------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_GRAPHFILE_H
#define PAR_SUPPORT_GRAPHFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::par {

/// What is in the file `path`, `-` being standard input. Null after one error through `context`: it cannot be
/// read, or nests so deeply that MLIR's parser, which recurses, would run out of stack.
std::unique_ptr<llvm::MemoryBuffer> readGraphFile(MLIRContext &context, StringRef path);

/// The module in it. Null after one error.
OwningOpRef<ModuleOp> parseGraphFile(MLIRContext &context, StringRef path);

} // namespace mlir::par

#endif // PAR_SUPPORT_GRAPHFILE_H
