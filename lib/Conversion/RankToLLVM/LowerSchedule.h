//===- LowerSchedule.h - schedules as tables --------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_CONVERSION_RANKTOLLVM_LOWERSCHEDULE_H
#define PAR_LIB_CONVERSION_RANKTOLLVM_LOWERSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Writes a table for every schedule of the module, and a function that has the runtime walk it. The
/// functions that the actions run are there as `NAME.rank`, and the runtime's entry points are declared.
LogicalResult lowerSchedules(ModuleOp module);

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_RANKTOLLVM_LOWERSCHEDULE_H
