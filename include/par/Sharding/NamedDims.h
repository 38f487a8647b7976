//===- NamedDims.h - dimensions that tensor parallelism splits by their names -----------------*- C++ -*-===//
#ifndef PAR_SHARDING_NAMEDDIMS_H
#define PAR_SHARDING_NAMEDDIMS_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Heads of keys and values, and of queries for each of them: they share the axes, or divide them.
inline constexpr llvm::StringLiteral kKvHeads = "kv_heads", kQueryGroup = "group";
/// Dimensions of which a parameter's first one is split over all axes.
inline constexpr llvm::StringLiteral kWholeSplit[] = {"vocab", "heads", "mlp"};

/// Whether any parameter has a dimension of such a name. Of a model without, par-search-sharding finds the
/// splits.
bool hasNamedSplits(ModuleOp module);

} // namespace mlir::par

#endif // PAR_SHARDING_NAMEDDIMS_H
