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

/// Floating-point operations a device does while it sends one byte: what idle or duplicated work costs in
/// bytes. 400 TFLOP/s sustained against 100 GB/s of link (an order of magnitude is enough: it only breaks
/// ties).
constexpr double kFlopsPerByte = 4000;

} // namespace mlir::par

#endif // PAR_SHARDING_RESHARDCOST_H
