//===- Manifest.h - what the runtime has to know of a package ---------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_MANIFEST_H
#define PAR_EMIT_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// docs/Package.md, without `fingerprint` and `files`, from a module after rank-plan-memory that has its plan
/// as `par.plan`.
llvm::json::Object buildManifest(ModuleOp module);

} // namespace mlir::par

#endif // PAR_EMIT_MANIFEST_H
