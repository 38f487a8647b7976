//===- ProgramTimes.h - how long the functions of a rank program run --------------------------*- C++ -*-===//
#ifndef PAR_COST_PROGRAMTIMES_H
#define PAR_COST_PROGRAMTIMES_H

#include "par/Cost/TimeTerms.h"
#include "par/Cost/WorkOps.h"

namespace mlir::par {

/// Modelled seconds; of each function once. What is started runs beside what is computed: collectives one
/// after the other, and so do copies between memories. The host issues one op after the other and is not
/// waited for: a function takes no less than its host.
class ProgramTimes {
public:
  ProgramTimes(ModuleOp module, const Machine &machine)
      : symbols(module), mesh(getMesh(module)), machine(machine) {}

  TimeTerms measure(rank::FuncOp function);
  /// What the entry of a schedule takes: its function, the message, or the sum over stages, by a ring.
  TimeTerms measure(rank::EntryOpInterface entry);

private:
  double measureWork(Operation *work) const;
  bool blocks(rank::StartOp start) const;
  double TimeTerms::*findWait(Operation *work) const;

  SymbolTable symbols;
  MeshAttr mesh;
  const Machine &machine;
  llvm::DenseMap<Operation *, TimeTerms> known; ///< of functions
};

} // namespace mlir::par

#endif // PAR_COST_PROGRAMTIMES_H
