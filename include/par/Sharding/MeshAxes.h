//===- MeshAxes.h - what the axes of a mesh are for -------------------------------------------*- C++ -*-===//
#ifndef PAR_SHARDING_MESHAXES_H
#define PAR_SHARDING_MESHAXES_H

#include "par/Plan/Plan.h"
#include "par/Sharding/FactorAssignment.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

/// Axes as users write them ("tp=2,dp=4"), in the order pp, dp, dp_replicate, dp_shard, cp, tp. The axis dp
/// may be refined: `dp_replicate` groups of `dp_shard` ranks; where dp is given too, it is their product, and
/// one of the two may be left out. Then dp itself is not among the result. Errors: text that is no axis=size,
/// an unknown axis, one given twice, a product that is not dp, more than 2^24 ranks.
llvm::Expected<NamedAxes> parseMeshAxes(StringRef text);

/// Ranks that compute different rows of the batch: dp, or the product of its parts.
int64_t countDataRanks(const NamedAxes &axes);
/// Ranks over which ZeRO stores parts of state (`getStateAxes`).
int64_t countStateRanks(const NamedAxes &axes);

/// Axes larger than one that split the batch: dp, or dp_replicate and dp_shard.
Axes getDataAxes(MeshAttr mesh);
/// Axes larger than one over which state that is equal on all ranks may be stored in parts: dp, or dp_shard
/// where dp is refined; and cp.
Axes getStateAxes(MeshAttr mesh);
/// Axes larger than one of tensor parallelism: tp, or its refinements.
Axes getTensorAxes(MeshAttr mesh);

} // namespace mlir::par

#endif // PAR_SHARDING_MESHAXES_H
