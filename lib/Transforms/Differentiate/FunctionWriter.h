//===- FunctionWriter.h - functions whose arguments are found while they are written ----------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_FUNCTIONWRITER_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_FUNCTIONWRITER_H

#include "par/Dialect/Par/IR/Places.h"

namespace mlir::par {

/// Builds a function argument by argument; type and attributes are set once, by `finish` (setting them one at
/// a time takes quadratic time, and an update has an argument per parameter, gradient and moment).
class FunctionWriter {
public:
  /// An empty function at the end of `module`.
  FunctionWriter(ModuleOp module, Location location, StringRef name);

  /// An argument that reads `variable`; a result that updates it.
  Value addArgument(VariableOp variable);
  void addResult(VariableOp variable, Value value);
  /// Place and sharding may be null.
  Value addArgument(Type type, PlaceAttr place, ShardingAttr sharding);
  void addResult(Value value, PlaceAttr place, ShardingAttr sharding);
  /// Returns what was added as results.
  func::FuncOp finish();

  func::FuncOp function;
  OpBuilder builder; ///< at the end of the body

private:
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  SmallVector<Value> returned;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_FUNCTIONWRITER_H
