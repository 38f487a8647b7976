//===- Scalars.h - single elements in registers and in memory -------------------------------*- C++ -*-===//
#ifndef PAR_CONVERSION_SCALARS_H
#define PAR_CONVERSION_SCALARS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Interfaces/ElementBuilder.h"

namespace mlir::par {

/// Emits code for single elements at the builder's place: arithmetic, and ways from memory and to it.
class Scalars : public ElementArithmetic {
public:
  using ElementArithmetic::ElementArithmetic;

  /// Reads and writes an element of a tensor with elements of `type`.
  Value load(Type type, Value memory, ArrayRef<Value> index);
  void store(Value element, Type type, Value memory, ArrayRef<Value> index);

  /// The buffer of a tensor; bf16 is held as i16, which every processor loads, stores and shifts in vectors.
  static MemRefType getMemoryType(RankedTensorType tensor);
};

} // namespace mlir::par

#endif // PAR_CONVERSION_SCALARS_H
