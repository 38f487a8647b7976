//===- Manifest.h - what the runtime has to know of a package ---------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_MANIFEST_H
#define PAR_EMIT_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// What the manifest says beside what stands in the module.
struct ManifestOptions {
  int64_t seq = 0, batch = 0, microBatches = 1;
  std::string dtype = "f32";
  int64_t zero = 0;
  std::string zero3Gather = "per-micro-batch";
  bool sequenceParallel = false;
  std::string offload = "none";
  /// The user's axes, in the order of the mesh.
  std::vector<std::pair<std::string, int64_t>> mesh;
};

/// docs/Package.md, without `fingerprint` and `files`, from a module after rank-plan-memory.
llvm::json::Object buildManifest(ModuleOp module, const ManifestOptions &options);

} // namespace mlir::par

#endif // PAR_EMIT_MANIFEST_H
