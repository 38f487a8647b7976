//===- FeedForward.h - kinds of feed-forward, and what they share -----------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_FEEDFORWARD_H
#define PAR_IMPORT_FEEDFORWARD_H

#include "par/Import/LayerKind.h"

namespace mlir::par {

/// The non-linearity of a feed-forward.
enum class Activation {
  GeluTanh, ///< 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
  Gelu,     ///< 0.5·x·(1 + erf(x/√2))
  Relu,     ///< max(x, 0)
  Silu,     ///< x·σ(x), σ(x) = 1 / (1 + exp(−x))
};

/// The numbers that describe every kind of feed-forward with one hidden value.
void describeFeedForward(KindDescription &kind, int64_t width, Activation activation, bool bias);

/// down(activation(gate(x)) · up(x))
class GatedFeedForward : public LayerPart {
public:
  int64_t width = 0;
  Activation activation = Activation::Silu;
  bool bias = false;
  /// Files hold gate and up as one tensor, gate_up_proj, in this order.
  bool isJoint = false;

  llvm::StringRef getName() const override { return "gated"; }
  Value build(LayerBuilder &layer, Value x) const override;
  void describe(KindDescription &kind) const override;
};

} // namespace mlir::par

#endif // PAR_IMPORT_FEEDFORWARD_H
