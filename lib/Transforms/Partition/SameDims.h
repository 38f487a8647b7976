//===- SameDims.h - dimensions of values that are one of the model ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_SAMEDIMS_H
#define PAR_LIB_TRANSFORMS_PARTITION_SAMEDIMS_H

#include "par/Dialect/Par/IR/Par.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::par {

/// Which dimensions of values are one dimension of the model, in all functions: the vocabulary is one of the
/// embedding and of its moments, of the logits and of their gradient.
class SameDims {
public:
  /// A value or the symbol of a variable, and one of its dimensions.
  using Key = std::pair<const void *, unsigned>;

  SameDims(ModuleOp module, const SymbolTable &symbols);

  /// Equal for what is the same dimension.
  Key find(Value value, unsigned dim) const;
  /// True where the dimension has to be what it is somewhere: an op needs all of it, makes it of two, or
  /// knows nothing of factors; the runtime fills it; or there is a table of constants along it.
  bool isFixed(Value value, unsigned dim) const { return fixed.contains(find(value, dim)); }
  /// Both have the same dimensions; what `find` says of those of `a` stays.
  void join(Value a, Value b);

private:
  void visitVariable(VariableOp variable, const SymbolTable &symbols);
  void visitFunction(func::FuncOp function, const SymbolTable &symbols);
  void visitOp(Operation *op, const SymbolTable &symbols);
  void visitRule(ShardingRuleOpInterface op);
  void join(Value value, FlatSymbolRefAttr variable);
  void fix(Value value);

  llvm::EquivalenceClasses<Key> same;
  llvm::SmallVector<Key> marked; ///< what is fixed
  llvm::DenseSet<Key> fixed;     ///< the same once, by what `find` says
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_SAMEDIMS_H
