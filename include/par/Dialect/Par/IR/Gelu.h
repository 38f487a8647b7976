//===- Gelu.h - GELU and its derivative, found among elementwise ops -----------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_GELU_H
#define PAR_DIALECT_PAR_IR_GELU_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// f32 arithmetic that comes to GELU in its tanh form, or to a factor times its derivative.
struct GeluMatch {
  Value result;
  Value input;                  ///< what GELU is of; of a gradient the tensor before it is made f32
  SmallVector<Operation *> ops; ///< all of it, in the order of the block; `result`'s comes last
};

/// gelu(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) of an f32 tensor, told by its values at many
/// points: in whatever order sums, products and tanh stand.
std::optional<GeluMatch> findGelu(Value x);

/// factor · gelu'(x) for some tensor x, which may be of a narrower type. Nothing else uses `factor`, nor what
/// is made of it on the way.
std::optional<GeluMatch> findGeluGradient(Value factor);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_GELU_H
