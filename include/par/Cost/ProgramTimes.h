//===- ProgramTimes.h - how long the functions of a rank program run --------------------------*- C++ -*-===//
#ifndef PAR_COST_PROGRAMTIMES_H
#define PAR_COST_PROGRAMTIMES_H

#include "par/Cost/OpCost.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Of kernels, products, attention and copies what they compute, read and write, each operand once; of
/// collectives what goes over a wire.
OpCost estimateWorkCost(Operation *work, MeshAttr mesh);

/// Modelled seconds; of each function once. What is started runs beside what is computed: collectives one
/// after the other, and so do copies between memories. These take a link as fast as the one to a neighbour,
/// and kernels on the host what they would take on the device: the model has no rates of hosts.
class ProgramTimes {
public:
  ProgramTimes(ModuleOp module, const DeviceRates &rates)
      : symbols(module), mesh(getMesh(module)), rates(rates) {}

  double measure(rank::FuncOp function);
  /// What the entry of a schedule takes: its function, the message, or the sum over stages, by a ring.
  double measure(rank::EntryOpInterface entry);

private:
  double measureExchange(rank::ExchangeOp exchange) const;
  double measureWork(Operation *work) const;

  SymbolTable symbols;
  MeshAttr mesh;
  const DeviceRates &rates;
  llvm::DenseMap<Operation *, double> known; ///< seconds of functions
};

} // namespace mlir::par

#endif // PAR_COST_PROGRAMTIMES_H
