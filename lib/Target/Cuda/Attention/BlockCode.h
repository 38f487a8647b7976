//===- BlockCode.h - code of a block of threads: numbers, memory, loops -------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_BLOCKCODE_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_BLOCKCODE_H

#include "par/Conversion/Scalars.h"

namespace mlir::par {

using Values = SmallVector<Value>;

/// Emits code at the builder's place in an entry. Numbers are i32, memory is pointers: what a warp's lanes
/// have of a tile lies at places that no memref describes.
class BlockCode : public Scalars {
public:
  /// At the beginning of an entry.
  BlockCode(OpBuilder &builder, Location loc);

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  Value whole(int64_t value) { return constant(i32, static_cast<double>(value)); }
  Value real(double value) { return constant(f32, value); }
  Value add(Value a, Value b) { return create<arith::AddIOp>(a, b); }
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, whole(b)); }
  Value times(Value a, int64_t b) { return b == 1 ? a : create<arith::MulIOp>(a, whole(b)); }
  Value divide(Value a, int64_t b) { return create<arith::DivUIOp>(a, whole(b)); }
  Value rest(Value a, int64_t b) { return create<arith::RemUIOp>(a, whole(b)); }
  Value atMost(Value a, int64_t most) { return create<arith::MinSIOp>(a, whole(most)); }
  Value isBelow(Value a, int64_t limit) { return compare(arith::CmpIPredicate::slt, a, whole(limit)); }
  Value isEqual(Value a, int64_t b) { return compare(arith::CmpIPredicate::eq, a, whole(b)); }
  Value both(Value a, Value b) { return create<arith::AndIOp>(a, b); }
  Value multiply(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value subtract(Value a, Value b) { return create<arith::SubFOp>(a, b); }

  // In 64 bits: elements of a buffer, and what may lie beyond i32.
  Value wide(int64_t value) { return create<arith::ConstantIntOp>(value, i64); }
  Value widen(Value a) { return create<arith::ExtSIOp>(i64, a); }
  Value widenTimes(Value a, int64_t b) { return create<arith::MulIOp>(widen(a), wide(b)); }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// `count` elements (i32 or i64) behind a pointer.
  Value address(Value pointer, Type element, Value count);
  Value address(Value pointer, Type element, int64_t count);
  Value read(Type type, Value address, int64_t alignment);
  Value read(Type type, Value address) { return read(type, address, getBytes(type)); }
  void write(Value value, Value address, int64_t alignment);
  void write(Value value, Value address) { write(value, address, getBytes(value.getType())); }
  static int64_t getBytes(Type type);
  /// `count` elements of f32 or bf16 in one access, as f32.
  Values readElements(Type element, Value address, int64_t count);

  //===--------------------------------------------------------------------===//
  // Control
  //===--------------------------------------------------------------------===//

  /// For numbers from `first` up to `end`: `body` makes of what is carried what is carried on.
  Values loop(Value first, Value end, int64_t step, ValueRange start,
              function_ref<Values(Value number, ValueRange carried)> body);
  /// What `body` makes where the condition holds, else `otherwise`.
  Values choose(Value condition, ValueRange otherwise, function_ref<Values()> body);
  void when(Value condition, function_ref<void()> body);

  //===--------------------------------------------------------------------===//
  // Threads
  //===--------------------------------------------------------------------===//

  /// All threads of the block are here.
  void meetBlock();
  /// All lanes of the warp are here.
  void meetWarp();
  /// Combined over lanes whose numbers differ in the bits below `lanes`, in every one of them.
  Value combineLanes(ReduceKind kind, Value value, int64_t lanes);
  /// The least or the greatest i32 of all lanes, in one instruction.
  Value combineWarp(ReduceKind kind, Value value);

  const Type i32, i64, f32;
  Value block, thread, lane, warp;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_BLOCKCODE_H
