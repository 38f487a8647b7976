//===- LayerBuilder.h - the vocabulary in which layers are written ----------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_LAYERBUILDER_H
#define PAR_IMPORT_LAYERBUILDER_H

#include "par/Dialect/Par/IR/Par.h"
#include "par/Import/Attention.h"
#include "par/Import/FeedForward.h"
#include "par/Import/Parameters.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace mlir::par {

/// Where in a block an element is dropped. A block has three sites whether or not it uses them, so that site
/// numbers do not depend on probabilities: 0 is the embedding's, 1 + 3·index + slot a block's.
enum class DropoutSlot { Attention = 0, AttentionOutput = 1, Mlp = 2 };

/// What the words of a layer read beside its input, which become operands in this order.
struct LayerDeclaration {
  /// In the order of their first use; without symbols and names of files.
  std::vector<Parameter> parameters;
  /// The layer's number, tensor<i32>.
  bool index = false;
  /// Key of the step, tensor<2xi32>, and row in the step of the graph's row 0, tensor<i32>.
  bool dropout = false;
  /// [batch, seq] of i32 each.
  bool targets = false, positions = false, documents = false;
  /// Elements per token of the largest value, and per pair of tokens of the scores.
  double width = 0, heads = 0;
};

/// The operands that a declaration asks for; null where it does not.
struct LayerOperands {
  llvm::StringMap<Value> parameters;
  Value index, key, row, targets, positions, documents;
};

/// How a linear map is stored, and whether it has a bias.
struct LinearMap {
  enum class Order {
    OutputFirst, ///< torch.nn.Linear
    InputFirst,  ///< Conv1D of Transformers' GPT-2
  };
  bool bias = false;
  Order order = Order::OutputFirst;
  /// Of initial weights; absent: the config's.
  std::optional<double> deviation = std::nullopt;
  /// The rows of a file's tensors that its weight and bias are, where others have the rest.
  std::optional<JointRows> joint = std::nullopt;
};

/// The words. Without an `OpBuilder` they declare what they read, and values are null; with one they build
/// the body of the layer's function. Activations are [batch, seq, embed]. Equations spell dimensions by
/// letters: b batch, s seq, e embed, v vocab, p positions, and those that `dimension` gives a meaning.
class LayerBuilder {
public:
  /// Declares what a layer reads in training, or in evaluation.
  LayerBuilder(const ModelConfig &config, bool training);
  /// Builds it from what was declared.
  LayerBuilder(const ModelConfig &config, bool training, OpBuilder &builder, int64_t batch, int64_t seq,
               const LayerOperands &operands);

  const ModelConfig &getConfig() const { return config; }
  const LayerDeclaration &getDeclaration() const { return declaration; }
  int64_t getBatch() const { return batch; }
  int64_t getSeq() const { return seq; }

  //===--------------------------------------------------------------------===//
  // Words that read tensors of the layer
  //===--------------------------------------------------------------------===//

  /// `letter` in equations from here on.
  void dimension(char letter, StringRef name, int64_t size) { dimensions[letter] = {name.str(), size}; }
  /// `input` by `name`.weight, plus `name`.bias over the output's dimensions if the map has one. Dimensions
  /// of the weight that the output lacks are the input's.
  Value linear(StringRef equation, Value input, StringRef name, LinearMap map = {});
  /// Normalises the last dimensions, which `letters` spell, with `name`.weight and `name`.bias where such a
  /// norm has them.
  Value norm(Value input, StringRef name, const Norm &norm, StringRef letters = "e");
  /// Rows of `name`.weight, whose dimensions are `letters`. `padding`: the id whose row gets no gradient.
  Value embedding(Value ids, StringRef name, StringRef letters,
                  std::optional<int64_t> padding = std::nullopt);
  /// The tensor that words call `local` is an earlier layer's of this symbol.
  void shareTensor(StringRef local, StringRef symbol) { shared[local] = symbol.str(); }

  //===--------------------------------------------------------------------===//
  // Words that read other operands
  //===--------------------------------------------------------------------===//

  /// Causal attention. q [batch, seq, kv_heads, group, head_dim], k and v [batch, seq, kv_heads, head_dim];
  /// the result is like q. Letters h, g and d tell the sizes.
  Value attention(Value q, Value k, Value v, Value positions, const Scores &scores);
  /// Without a slot: the embedding's site. Nothing is built where p is 0, or in evaluation.
  Value dropout(Value input, double p, std::optional<DropoutSlot> slot = std::nullopt);
  /// What the graph returns: in training Σ over batch and seq of −log softmax(logits)[target], tensor<f32>,
  /// else logits in f32.
  Value output(Value logits);

  //===--------------------------------------------------------------------===//
  // Words that compute from their operands alone
  //===--------------------------------------------------------------------===//

  /// Ops built from here on stem from this module of the model.
  void setPlace(StringRef name);
  /// Sum of products; the result's shape follows from the letters.
  Value einsum(StringRef equation, Value lhs, Value rhs);
  /// `rhs` is repeated along leading dimensions that it lacks.
  Value add(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  Value reshape(Value input, ArrayRef<int64_t> shape);
  Value slice(Value input, ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape);
  /// The positions of tokens: [0, 1, … seq − 1] of every row, or [batch, seq] where documents are isolated.
  Value positions();
  Value rotary(Value input, Value positions, const Rotary &rotary);
  /// `input` · factor, which is rounded to the input's type first. Nothing is built for 1.
  Value scale(Value input, double factor);
  /// cap · tanh(input / cap), computed in f32 and rounded once. Nothing is built for 0.
  Value softCap(Value input, double cap);
  /// Computed in f32 and rounded once.
  Value activation(Value input, Activation activation);
  /// `input` with elements of f32.
  Value toF32(Value input);

private:
  bool isDeclaring() const { return !builder; }
  /// The dimensions that `letters` spell.
  std::vector<Dimension> dimensionsOf(StringRef letters) const;
  /// Declares it if it is new.
  Value tensor(Parameter parameter);
  Value vector(const Twine &local, StringRef letters, InitKind init,
               const std::optional<JointRows> &joint = std::nullopt);
  Value weight(StringRef equation, StringRef name, const LinearMap &map);

  RankedTensorType typeLike(Value value, ArrayRef<int64_t> shape) const;
  Value expandLike(Value input, Value like);
  Value splat(Value like, double value);
  Value scalar(int32_t value);
  Value zeroOffsets(int64_t rank);
  Value site(std::optional<DropoutSlot> slot);
  Value gelu(Value input, bool exact);
  Value applyActivation(Value input, Activation activation);
  Value divideByLayer(Value input);
  Value crossEntropySum(Value logits);

  const ModelConfig &config;
  bool training;
  LayerDeclaration declaration;
  std::map<char, Dimension> dimensions;
  /// Local name -> symbol.
  llvm::StringMap<std::string> shared;
  /// Null while declaring.
  OpBuilder *builder = nullptr;
  int64_t batch = 0, seq = 0;
  LayerOperands operands;
  LocationAttr loc;
};

/// What `kind` reads in training, or in evaluation.
LayerDeclaration declareLayer(const ModelConfig &config, const LayerPart &kind, bool training);

} // namespace mlir::par

#endif // PAR_IMPORT_LAYERBUILDER_H
