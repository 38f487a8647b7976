//===- OpCost.h - what running an op costs one rank -------------------------------------------*- C++ -*-===//
#ifndef PAR_COST_OPCOST_H
#define PAR_COST_OPCOST_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Work of one op on one rank of a mesh, from its rule, its types and the shardings of its values. A value
/// without one lies whole everywhere, as all do after partitioning; collectives say what they move.
struct OpCost {
  double flops = 0; ///< floating-point operations
  double bytes = 0; ///< read and written in memory
  double gathered =
      0; ///< on the wire to bring operands, and what a constraint asks for, into place (ring bytes)
  double summed = 0; ///< on the wire to complete sums over split factors (ring bytes)
};

/// A device and the link to its neighbours, per second.
struct DeviceRates {
  double flops;   ///< of products, sustained
  double memory;  ///< bytes
  double link;    ///< bytes
  double latency; ///< seconds until a collective has begun

  /// What idle or duplicated work costs in bytes that could be sent meanwhile.
  double getFlopsPerByte() const { return flops / link; }
};

/// The rates weigh what an op moves against what it computes twice, as partitioning does.
OpCost estimateCost(Operation *op, const DeviceRates &device);

/// Seconds: the slower of arithmetic and memory (Williams, Waterman, Patterson, "Roofline", CACM 52, 2009),
/// then α + n/β per collective (Hockney, Parallel Computing 20, 1994).
double getSeconds(const OpCost &cost, const DeviceRates &device);

} // namespace mlir::par

#endif // PAR_COST_OPCOST_H
