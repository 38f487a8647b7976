//===- ElementBuilder.h - with what an op writes the code for one of its elements -------------*- C++ -*-===//
#ifndef PAR_INTERFACES_ELEMENTBUILDER_H
#define PAR_INTERFACES_ELEMENTBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "par/Dialect/Par/IR/ParAttributes.h"

namespace mlir::par {

/// Index of one element, a value of type index per dimension.
using Index = SmallVector<Value>;

inline ArrayRef<int64_t> getShape(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The entries for the dimensions of a tensor, without those of `dims`.
template <typename T>
SmallVector<T> dropDims(ArrayRef<T> index, ArrayRef<int64_t> dims) {
  SmallVector<T> rest;
  for (auto [dim, each] : llvm::enumerate(index))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      rest.push_back(each);
  return rest;
}

/// The index of an operand of a transpose, where `index` is that of the result.
template <typename T>
SmallVector<T> turnBack(ArrayRef<T> index, ArrayRef<int64_t> permutation) {
  SmallVector<T> source(index.size());
  for (auto [dim, from] : llvm::enumerate(permutation))
    source[from] = index[dim];
  return source;
}

/// Emits arithmetic of single elements at the builder's place.
///
/// bf16 and f16 elements are held in f32, rounded to their type wherever the graph has a value of that type:
/// what a kernel computes does not depend on which values it keeps in registers.
class ElementArithmetic {
public:
  ElementArithmetic(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename Op, typename... Args>
  Value create(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...)->getResult(0);
  }
  Value constantIndex(int64_t value);
  Value constant(Type type, double value);
  Value addIndex(Value a, int64_t b);
  Value toIndex(Value integer) { return create<arith::IndexCastOp>(builder.getIndexType(), integer); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return create<arith::CmpIOp>(predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) { return create<arith::SelectOp>(condition, a, b); }
  Value combine(ReduceKind kind, Value a, Value b);
  Value neutral(ReduceKind kind, Type type);
  /// A float as an element of `type` is held: rounded to nearest even, or extended; anything else as it is.
  Value round(Value value, Type type);
  /// Word 0 of Philox4x32-10 of i32, as philoxWord0 of the interpreter computes it.
  Value drawPhilox(ArrayRef<Value> counter, ArrayRef<Value> key);
  /// True if dropout with probability `p` keeps what such a word was drawn for.
  Value isKept(Value drawn, double p);

  /// bf16 and f16: computed in f32.
  static bool isNarrow(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }
  /// Type in which an element is held.
  static Type getHeldType(Value value);

  OpBuilder &builder;
  Location loc;
};

/// The row of a table that an id means; `isThere` is false where the table has no such row.
struct TableRow {
  Value row, isThere;
};

/// What an op needs to write its element: elements of its operands, and how the kernel walks sums. The kernel
/// generator implements it (ScalarEvaluator).
class ElementBuilder : public ElementArithmetic {
public:
  using ElementArithmetic::ElementArithmetic;
  virtual ~ElementBuilder() = default;

  /// The element of `value` at `index`.
  virtual FailureOr<Value> evaluate(Value value, ArrayRef<Value> index) = 0;
  /// Folds `term(index)` over a box of `sizes`, in elements of `type`.
  virtual FailureOr<Value> reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                                  function_ref<FailureOr<Value>(ArrayRef<Value>)> term) = 0;
  /// The element of `constant`, whose `data` lies in memory beside the kernel.
  virtual FailureOr<Value> readData(Value constant, DenseElementsAttr data, ArrayRef<Value> index) = 0;
  /// i32: the coordinate on a mesh axis of the rank that runs the kernel.
  virtual Value getCoordinate(StringRef axis) = 0;

  /// The element of `value` where `isInside` (null: everywhere), else zero. It is evaluated in any case:
  /// `index` must be one of the tensor.
  FailureOr<Value> evaluateInside(Value isInside, Value value, ArrayRef<Value> index);
  /// The row that an id means: id − offset (null: 0) of `rows` rows.
  FailureOr<TableRow> findRow(Value ids, Value offset, ArrayRef<Value> index, int64_t rows);
};

} // namespace mlir::par

#endif // PAR_INTERFACES_ELEMENTBUILDER_H
