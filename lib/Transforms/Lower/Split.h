//===- Split.h - what is computed in parts of rows --------------------------------------------*- C++ -*-===//
#ifndef PAR_TRANSFORMS_LOWER_SPLIT_H
#define PAR_TRANSFORMS_LOWER_SPLIT_H

#include "mlir/IR/SymbolTable.h"
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::par {

/// The ops around one large value, and which of their dimensions are the rows that are computed in parts.
class Split {
public:
  /// Rows: `count` dimensions of what `producer` makes, from `first` on. Values of more than `limit` bytes
  /// shall not exist whole.
  Split(EinsumOp producer, int64_t first, int64_t count, int64_t limit);

  /// Finds all ops. False if some op cannot be computed in parts, or parts of a value that exists whole would
  /// not follow each other in memory.
  bool close();

  /// In the order of their block.
  SmallVector<Operation *> getOps() const;
  bool contains(Operation *op) const { return op && ops.contains(op); }
  /// The value has the rows; else it is the same, or a term of a sum, in every part.
  bool isCut(Value value) const { return dims.contains(value); }
  /// What one of that many parts has of a value.
  RankedTensorType getPartType(Value value, int64_t parts) const;
  /// An operand from outside that every part makes for itself.
  bool isMadeInside(Value operand) const;
  bool isUsedOutside(Value value) const;
  Block &getBlock() const { return block; }

private:
  bool markAll();
  bool isMarked(Operation *op) const;
  bool mark(Operation *op);
  bool markAllReduce(AllReduceOp op);
  std::optional<int64_t> findFactor(Operation *op, RuleAttr rule, int64_t row) const;
  bool setDim(Value value, int64_t dim) { return dims.try_emplace(value, dim).first->second == dim; }
  bool placeRows(Value value, ArrayRef<int64_t> factors, llvm::function_ref<int64_t(int64_t)> getFactor);
  bool isLarge(Value value) const;
  void addNeighbours();
  void addBetween();
  bool usesSumOfParts(Operation *op) const;
  bool crossesWell(Operation *op) const;
  bool followsInMemory(Value value) const;

  Block &block;
  int64_t limit;
  SmallVector<int64_t> rows; ///< their sizes
  llvm::SetVector<Operation *> ops;
  llvm::DenseSet<Operation *> fixed;    ///< what is made of constants and positions alone
  llvm::MapVector<Value, int64_t> dims; ///< where the rows of values begin
};

/// Makes the ops of a split a function, and a call of that many parts of what was there; the function.
func::FuncOp callInParts(const Split &split, int64_t parts, SymbolTable &symbols);

} // namespace mlir::par

#endif // PAR_TRANSFORMS_LOWER_SPLIT_H
