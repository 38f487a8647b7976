//===- Manifest.h - what the runtime has to know of a package ---------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_MANIFEST_H
#define PAR_EMIT_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// docs/Package.md, without `fingerprint` and `files`, from a module after rank-plan-memory that has its plan
/// as `par.plan`. What is only summarised needs no `programs` and `parameters`: they have an entry for each
/// of a thousand variables and ops.
llvm::json::Object buildManifest(ModuleOp module, bool withPrograms);

/// Adds to every program the lists `kernels` and `products` of a module after rank-to-llvm,
/// where its kernels are a program of their own.
void addDeviceLists(ModuleOp module, llvm::json::Object &manifest);

} // namespace mlir::par

#endif // PAR_EMIT_MANIFEST_H
