//===- NamedDims.cpp - dimensions that tensor parallelism splits by their names -------------------------===//
#include "par/Sharding/NamedDims.h"

using namespace mlir;
using namespace mlir::par;

bool par::hasNamedSplits(ModuleOp module) {
  return llvm::any_of(module.getOps<VariableOp>(), [](VariableOp variable) {
    return llvm::any_of(variable.getDims().getAsValueRange<StringAttr>(), [](StringRef name) {
      return name == kKvHeads || name == kQueryGroup || llvm::is_contained(kWholeSplit, name);
    });
  });
}
