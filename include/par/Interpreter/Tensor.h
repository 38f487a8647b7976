//===- Tensor.h - a value of the interpreter --------------------------------------------------*- C++ -*-===//
#ifndef PAR_INTERPRETER_TENSOR_H
#define PAR_INTERPRETER_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include <functional>
#include <vector>

namespace mlir::par {

/// Values of a ranked tensor of static shape, row-major, every element as f64 whatever its type. Integers up
/// to 2^53 are exact; i1 is 0 or 1.
struct Tensor {
  RankedTensorType type;
  std::vector<double> values;

  Tensor() = default;
  explicit Tensor(RankedTensorType type, double fill = 0.0)
      : type(type), values(type.getNumElements(), fill) {}

  ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t rank() const { return type.getRank(); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  /// The only element of a tensor of one element.
  double scalar() const { return values.front(); }
  /// Rounds every element to bf16 or f16 (nearest, ties to even) if that is the type. f32 and f64 stay f64:
  /// only a narrow type's rounding is part of the meaning.
  void round();
};

/// Row-major strides of a shape, in elements.
SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape);

/// Calls `visit(index)` for every index of `shape` in row-major order (once with an empty index for rank 0).
void forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit);

/// Copies the block of `shape` that begins at `fromOffsets` in `from` to `toOffsets` in `to`; it must lie in
/// both.
void copyBlock(const Tensor &from, ArrayRef<int64_t> fromOffsets, Tensor &to, ArrayRef<int64_t> toOffsets,
               ArrayRef<int64_t> shape);

/// What an op may ask about the rank that evaluates it.
struct InterpreterContext {
  /// Coordinate of this rank on a mesh axis; 0 in a graph that is not partitioned.
  std::function<int64_t(llvm::StringRef)> coordinate = [](llvm::StringRef) { return int64_t(0); };
};

/// Philox4x32-10 (Salmon et al., SC 2011, "Parallel random numbers: as easy as 1, 2, 3"); word 0 of the
/// output. docs/Package.md says which counters and keys dropout uses.
uint32_t philoxWord0(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1);

} // namespace mlir::par

#endif // PAR_INTERPRETER_TENSOR_H
