//===- Scalars.h - arithmetic of a kernel's elements ----------------------------------------*- C++ -*-===//
#ifndef PAR_CONVERSION_SCALARS_H
#define PAR_CONVERSION_SCALARS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

inline ArrayRef<int64_t> getShape(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// What stands for the dimensions of a tensor, without `dims`.
template <typename T>
SmallVector<T> dropDims(ArrayRef<T> index, ArrayRef<int64_t> dims) {
  SmallVector<T> rest;
  for (auto [dim, each] : llvm::enumerate(index))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      rest.push_back(each);
  return rest;
}

/// What stands for the dimensions of what is transposed, where `index` does for those of the result.
template <typename T>
SmallVector<T> turnBack(ArrayRef<T> index, ArrayRef<int64_t> permutation) {
  SmallVector<T> source(index.size());
  for (auto [dim, from] : llvm::enumerate(permutation))
    source[from] = index[dim];
  return source;
}

/// Emits code for single elements at the builder's place.
///
/// bf16 and f16 elements are held in f32, rounded to their type wherever the graph has a value of that type:
/// what a kernel computes does not depend on which values it keeps in registers.
class Scalars {
public:
  Scalars(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

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
  /// Reads and writes an element of a tensor with elements of `type`.
  Value load(Type type, Value memory, ArrayRef<Value> index);
  void store(Value element, Type type, Value memory, ArrayRef<Value> index);

  /// The buffer of a tensor; bf16 is held as i16, which every processor loads, stores and shifts in vectors.
  static MemRefType getMemoryType(RankedTensorType tensor);
  /// bf16 and f16: computed in f32.
  static bool isNarrow(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }
  /// Type in which an element is held.
  static Type getHeldType(Value value);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::par

#endif // PAR_CONVERSION_SCALARS_H
