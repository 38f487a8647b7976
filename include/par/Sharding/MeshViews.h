//===- MeshViews.h - other names over the ranks of a mesh -------------------------------------*- C++ -*-===//
#ifndef PAR_SHARDING_MESHVIEWS_H
#define PAR_SHARDING_MESHVIEWS_H

#include "par/Dialect/Par/IR/Par.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// The mesh with the ranks of the adjacent axes `over` numbered in a second way, by the axes `into`, major
/// first: the common refinement of both. <["dp"=4, "tp"=2]> with dp and tp into edp=2 and ep=4 becomes
/// <["dp.0"=2, "dp.1"=2, "tp"=2], {edp = ["dp.0"], ep = ["dp.1", "tp"]}>. A part of an axis is called axis.0,
/// axis.1 and so on, or as `into` says where it refines that axis: tp into tp.kv=2 and tp.group=2, dp into
/// dp_replicate=2 and dp_shard=2. Errors: axes that are not neighbours in the mesh, names that are taken,
/// another number of ranks, and sizes that have no common refinement (6 = 2 x 3 and 3 x 2).
llvm::Expected<MeshAttr> refineMesh(MeshAttr mesh, ArrayRef<StringRef> over,
                                    ArrayRef<std::pair<StringRef, int64_t>> into);

/// Writes the axes for the views that shardings name.
void resolveViews(ModuleOp module);

/// Gives the module another mesh of the same ranks, and its shardings the axes of that.
void setMesh(ModuleOp module, MeshAttr mesh);

} // namespace mlir::par

#endif // PAR_SHARDING_MESHVIEWS_H
