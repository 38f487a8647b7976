//===- PlanJson.h - plans as JSON -------------------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLAN_PLANJSON_H
#define PAR_PLAN_PLANJSON_H

#include "par/Plan/Plan.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// Every field by its name; null is an optional that is not there. docs/Package.md: `plan`.
llvm::json::Object toJson(const Plan &plan);
/// The value of one field.
llvm::json::Value toJson(const Plan &plan, llvm::StringRef field);

/// What `toJson` gave. Errors, each with `name` of the file and the field: text that is no JSON object,
/// another version, a field that is missing, unknown or of another type. Whether the values go together is
/// for `checkPlan`.
llvm::Expected<Plan> parsePlan(llvm::StringRef name, llvm::StringRef text);

} // namespace mlir::par

#endif // PAR_PLAN_PLANJSON_H
