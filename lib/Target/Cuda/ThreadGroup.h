//===- ThreadGroup.h - threads of a block that work together ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_THREADGROUP_H
#define PAR_LIB_TARGET_CUDA_THREADGROUP_H

#include "par/Conversion/Scalars.h"

namespace mlir::par {

/// The shared memory of a block that its launch asks for (Launch::sharedBytes), at the builder's place in a
/// function.
Value findLaunchShared(Scalars &scalars);

/// An array of f32 or i32 in the shared memory of a block.
class SharedArray {
public:
  /// At the builder's place in a function.
  SharedArray(Scalars &scalars, int64_t size, Type element);
  /// At `memory`.
  SharedArray(Scalars &scalars, Value memory, Type element)
      : scalars(scalars), element(element), array(memory) {}

  Value load(Value index);
  void store(Value element, Value index);

private:
  Value getAddress(Value index);

  Scalars &scalars;
  Type element;
  Value array;
};

void createBarrier(Scalars &scalars);

/// A warp, or a block of several whole ones. Several warps of a block may be groups of their own.
class ThreadGroup {
public:
  /// At the beginning of a function of blocks with `block` threads.
  ThreadGroup(Scalars &scalars, int32_t threads, int32_t block);

  /// What all threads bring, combined, in every one of them; in an order that nothing changes. All threads of
  /// the group must come here. A group that comes here again, and nowhere else of this kind in between, needs
  /// a barrier before it, or another `turn`.
  Value combine(ReduceKind kind, Value value);
  /// The same of several, in the time of one: they share a barrier.
  SmallVector<Value> combine(ArrayRef<ReduceKind> kinds, SmallVector<Value> values);
  bool isWarp() const { return threads == 32; }
  /// True in one thread of the group.
  Value isFirst();

  const int32_t threads;
  Value thread; ///< its number in the group
  Value number; ///< the group's, in the grid
  Value turn;   ///< 0 or 1, each in turn: what was left in the other one may still be read; or null

private:
  Value shuffle(Value value, int32_t distance);
  /// The place of a warp in shared arrays.
  Value inTurn(Value warp);
  void combineLanes(ArrayRef<ReduceKind> kinds, MutableArrayRef<Value> values, int32_t lanes);

  Scalars &scalars;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_THREADGROUP_H
