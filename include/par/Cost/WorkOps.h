//===- WorkOps.h - what the ops of rank programs compute and exchange -------------------------*- C++ -*-===//
#ifndef PAR_COST_WORKOPS_H
#define PAR_COST_WORKOPS_H

#include "par/Cost/Machine.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Of a kernel, products, attention or a copy within one memory.
Computation describeComputation(Operation *work);
/// Of a collective, started or not.
Exchange describeExchange(Operation *work, MeshAttr mesh);
/// Of an entry that stages of a pipeline send or add up.
Exchange describeExchange(rank::ExchangeOp exchange, MeshAttr mesh);
/// Started or not: a copy from one memory to another one, and its bytes.
std::optional<double> findTransferBytes(Operation *work);

/// Of kernels, products, attention and copies what they compute, read and write, each operand once; of
/// collectives what goes over a wire.
OpCost estimateWorkCost(Operation *work, MeshAttr mesh);

} // namespace mlir::par

#endif // PAR_COST_WORKOPS_H
