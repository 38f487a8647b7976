//===- ReshardCost.h - bytes that a change of sharding moves ----------------------------------*- C++ -*-===//
#ifndef PAR_SHARDING_RESHARDCOST_H
#define PAR_SHARDING_RESHARDCOST_H

#include "par/Sharding/FactorAssignment.h"

namespace mlir::par {

/// Ring bytes on the wire per rank to change `from` into `to` (n = ranks of the axes concerned, B = bytes of
/// the result of a gather or of the operand of a reduction): all-reduce 2B(n−1)/n, gathers and all-to-all
/// B(n−1)/n, slices nothing (Thakur et al., "Optimization of collective communication operations in MPICH",
/// 2005).
double getReshardBytes(RankedTensorType type, const DimAxes &from, ArrayRef<StringAttr> unreduced,
                       const DimAxes &to, MeshAttr mesh);

} // namespace mlir::par

#endif // PAR_SHARDING_RESHARDCOST_H
