//===- ParPlan.h - the plan that a module is compiled by --------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_PARPLAN_H
#define PAR_DIALECT_PAR_IR_PARPLAN_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Plan/Plan.h"

#define GET_ATTRDEF_CLASSES
#include "par/Dialect/Par/IR/ParPlan.h.inc"

namespace mlir::par {

/// Null in a module that nobody has planned.
PlanAttr getPlan(ModuleOp module);
/// After which phase, too.
void setPlan(ModuleOp module, const Plan &plan, CompilePhase after);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_PARPLAN_H
