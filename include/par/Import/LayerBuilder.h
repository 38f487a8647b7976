//===- LayerBuilder.h - the vocabulary in which families write layers -------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_LAYERBUILDER_H
#define PAR_IMPORT_LAYERBUILDER_H

#include "par/Dialect/Par/IR/Par.h"
#include "par/Import/ModelConfig.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::par {

/// Scalars that dropout needs; all null in a layer without dropout.
struct DropoutInputs {
  /// tensor<2xi32>, key of the step.
  Value key;
  /// tensor<i32>, row in the step of the graph's row 0.
  Value row;
};

/// Where in a block an element is dropped. A block has three sites whether or not it uses them, so that site
/// numbers do not depend on probabilities: 0 is the embedding's, 1 + 3·index + slot a block's.
enum class DropoutSlot { Attention = 0, AttentionOutput = 1, Mlp = 2 };

/// Builds the body of one layer's function. Activations are [batch, seq, embed].
class LayerBuilder {
public:
  /// `index`: tensor<i32>, number of the layer; null where nothing needs it.
  LayerBuilder(OpBuilder &builder, const ModelConfig &config, int64_t batch, int64_t seq, Value index,
               DropoutInputs dropout)
      : builder(builder), config(config), batch(batch), seq(seq), index(index), drop(dropout),
        loc(builder.getUnknownLoc()) {}

  const ModelConfig &getConfig() const { return config; }
  int64_t getBatch() const { return batch; }
  int64_t getSeq() const { return seq; }

  /// `value` is the parameter of this name within the layer.
  void define(StringRef local, Value value) { parameters[local] = value; }
  Value parameter(StringRef local) const { return parameters.lookup(local); }
  bool hasParameter(StringRef local) const { return parameters.contains(local); }
  /// Ops built from here on stem from this module of the model.
  void setPlace(StringRef name);

  /// Sum of products; the result's shape follows from the letters.
  Value einsum(StringRef equation, Value lhs, Value rhs);
  /// einsum with `name`.weight, plus `name`.bias over the last dimensions if the layer has one.
  Value linear(StringRef equation, Value input, StringRef name);
  Value add(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  /// Repeats `input` along leading dimensions up to `shape`.
  Value expand(Value input, ArrayRef<int64_t> shape);
  Value reshape(Value input, ArrayRef<int64_t> shape);
  Value slice(Value input, ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape);
  /// [0, 1, … seq − 1], the positions of the graph's tokens.
  Value positions();
  /// `padding`: the id whose row gets no gradient.
  Value embedding(Value ids, StringRef table, std::optional<int64_t> padding = std::nullopt);
  /// Normalises the last dimension as the config says, with `name`.weight and .bias where such a norm has
  /// them.
  Value norm(Value input, StringRef name);
  Value activation(Value input);
  /// `input` with elements of f32.
  Value toF32(Value input);
  Value rotary(Value input, Value positions);
  /// Causal attention scaled as the config says. q [batch, seq, kv_heads, group, head_dim], k and v [batch,
  /// seq, kv_heads, head_dim]; the result is like q. `window` as in `ModelConfig::windows`.
  Value attention(Value q, Value k, Value v, Value positions, int64_t window);
  /// Without a slot: the embedding's site. Nothing is built where p is 0 or the layer has no dropout.
  Value dropout(Value input, double p, std::optional<DropoutSlot> slot = std::nullopt);
  /// tensor<f32>: Σ over batch and seq of −log softmax(logits)[target].
  Value crossEntropySum(Value logits, Value targets);

private:
  RankedTensorType typeLike(Value value, ArrayRef<int64_t> shape) const;
  Value splat(Value like, double value);
  Value scalar(int32_t value);
  Value zeroOffsets(int64_t rank);
  Value site(std::optional<DropoutSlot> slot);
  Value applyActivation(Value input);
  Value gelu(Value input, bool exact);
  Value divideByLayer(Value input);

  OpBuilder &builder;
  const ModelConfig &config;
  int64_t batch, seq;
  Value index;
  DropoutInputs drop;
  Location loc;
  llvm::StringMap<Value> parameters;
};

} // namespace mlir::par

#endif // PAR_IMPORT_LAYERBUILDER_H
