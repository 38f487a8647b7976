//===- ScalarEvaluator.h - one element of a value of a kernel ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_CONVERSION_SCALAREVALUATOR_H
#define PAR_LIB_CONVERSION_SCALAREVALUATOR_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Index of one element, a value of type index per dimension.
using Index = SmallVector<Value>;

/// Emits the scalar code for elements of a kernel's values at the builder's place.
///
/// bf16 and f16 elements are held in f32, rounded to their type wherever the graph has a value of that type:
/// what a kernel computes does not depend on which values it keeps in registers.
///
/// Elements computed once are remembered per (value, index) as long as their code dominates: `push` and `pop`
/// bracket the body of a loop.
class ScalarEvaluator {
public:
  ScalarEvaluator(OpBuilder &builder, Location loc, Value context, ArrayRef<StringAttr> axes)
      : builder(builder), loc(loc), context(context), axes(axes) {
    scopes.emplace_back();
  }

  /// Elements of `tensor` are loaded from `memory`.
  void bind(Value tensor, Value memory) { memories[tensor] = memory; }
  /// Elements of `tensor` are computed again.
  void unbind(Value tensor) { memories.erase(tensor); }
  /// Where a bound tensor lies.
  Value getMemory(Value tensor) const { return memories.lookup(tensor); }
  FailureOr<Value> evaluate(Value value, ArrayRef<Value> index);
  /// Writes an element of a tensor with elements of `type`.
  void store(Value element, Type type, Value memory, ArrayRef<Value> index);

  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }

  Value constantIndex(int64_t value);
  /// A loop 0 … size − 1 with `body(induction variable)`; no loop for size 1.
  LogicalResult loop(int64_t size, function_ref<LogicalResult(Value)> body);
  /// The same, always as a loop.
  LogicalResult loop(Value begin, Value end, function_ref<LogicalResult(Value)> body, int64_t step = 1);
  /// Folds `value(index)` over a box; `index` has the reduced dimensions only. Long sums of f32 are made of
  /// blocks, whose sums are added up in f64: what is lost does not grow with the number of terms.
  FailureOr<Value> reduce(ArrayRef<int64_t> sizes, Type type, ReduceKind kind,
                          function_ref<FailureOr<Value>(ArrayRef<Value>)> value);
  Value combine(ReduceKind kind, Value a, Value b);
  Value addIndex(Value a, int64_t b);
  Value neutral(ReduceKind kind, Type type);
  /// A float as an element of `type` is held: rounded to nearest even, or extended; anything else as it is.
  Value round(Value value, Type type);

  /// The buffer of a tensor; bf16 is held as i16, which every processor loads, stores and shifts in vectors.
  static MemRefType getMemoryType(RankedTensorType tensor);
  /// bf16 and f16: computed in f32.
  static bool isNarrow(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

  OpBuilder &builder;
  Location loc;

private:
  using Key = std::pair<void *, SmallVector<void *>>;
  /// Most terms of a sum that is one chain of f32.
  static constexpr int64_t kShort = 1024;
  /// Most terms of a block, which is along the last dimension: vectors add it in many chains. With fewer
  /// terms, ending those for every block costs a tenth of what the terms do.
  static constexpr int64_t kBlock = 4096;
  /// A loop that carries a value from `start` on.
  Value fold(Value begin, Value end, int64_t step, Value start,
             function_ref<Value(Value variable, Value carried)> body);
  /// Adds blocks of `size` terms to `start`.
  Value addBlocks(int64_t size, Type type, Value start,
                  function_ref<Value(Value variable, Value carried)> term);

  FailureOr<Value> compute(Value value, ArrayRef<Value> index);
  Value load(RankedTensorType tensor, Value memory, ArrayRef<Value> index);
  /// The upper half of f32 bits rounded to bf16, NaN kept, the lower half garbage.
  Value roundBits(Value value);
  Value buildTable(DenseElementsAttr value);
  FailureOr<Value> computeElementwise(Operation *op, ArrayRef<Value> index);
  FailureOr<Value> computeReduce(ReduceOp op, ArrayRef<Value> index);
  FailureOr<Value> computeEinsum(EinsumOp op, ArrayRef<Value> index);
  FailureOr<Value> computeReshape(ReshapeOp op, ArrayRef<Value> index);
  FailureOr<Value> computePad(PadOp op, ArrayRef<Value> index);
  FailureOr<Value> computeConcat(ConcatOp op, ArrayRef<Value> index);
  FailureOr<Value> computeEmbedding(EmbeddingOp op, ArrayRef<Value> index);
  FailureOr<Value> computeEmbeddingBackward(EmbeddingBackwardOp op, ArrayRef<Value> index);
  FailureOr<Value> computeDropout(DropoutOp op, ArrayRef<Value> index);
  FailureOr<Value> computeAllSlice(AllSliceOp op, ArrayRef<Value> index);
  Value computeAxisIndex(StringRef axis);
  Value computePhilox(ArrayRef<Value> counter, ArrayRef<Value> key);
  Value constant(Type type, double value);
  Value toIndex(Value integer) {
    return builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), integer);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.create<arith::CmpIOp>(loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return builder.create<arith::SelectOp>(loc, condition, a, b);
  }

  Value context;
  ArrayRef<StringAttr> axes;
  llvm::DenseMap<Value, Value> memories;
  std::vector<std::map<Key, Value>> scopes;
};

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_SCALAREVALUATOR_H
