//===- Attention.h - kinds of attention, and what they share ----------------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_ATTENTION_H
#define PAR_IMPORT_ATTENTION_H

#include "par/Import/LayerKind.h"

namespace mlir::par {

/// Rotary position embedding: the inverse frequencies are a function of these.
struct Rotary {
  enum class Scaling { None, Linear, Llama3, Yarn };
  double theta = 10000.0;
  Scaling scaling = Scaling::None;
  /// Linear: every frequency is divided by it; Llama3 and Yarn: every low one.
  double factor = 1.0;
  /// Llama3: wavelengths below `originalPositions / highFrequencyFactor` are
  /// kept, those above `originalPositions / lowFrequencyFactor` are scaled.
  double lowFrequencyFactor = 1.0;
  double highFrequencyFactor = 4.0;
  /// Llama3 and Yarn: the context before it was extended.
  double originalPositions = 0.0;
  /// Yarn: pairs that turn more than `betaFast` times in the original context are kept, those that turn less
  /// than `betaSlow` times are scaled. The bounds in between are whole numbers of pairs unless not truncated.
  double betaFast = 32.0, betaSlow = 1.0;
  bool truncate = true;
  /// Cosines and sines are multiplied by it (Yarn's attention factor).
  double attentionFactor = 1.0;
  /// The share of a head, from its first element on, that is rotated.
  double share = 1.0;

  /// The pairs of a head that are rotated.
  int64_t countPairs(int64_t headDim) const { return static_cast<int64_t>(headDim * share) / 2; }
  void describe(KindDescription &kind) const;
};

/// The inverse frequency of each rotated pair in radians per position: f_i = theta^(−2i/d) with d = twice the
/// number of pairs, scaled as `rotary.scaling` says.
std::vector<double> inverseFrequencies(const Rotary &rotary, int64_t headDim);

/// How scores become probabilities, whatever made queries, keys and values.
struct Scores {
  /// Query i sees keys j with i − window < j ≤ i; 0 = no limit.
  int64_t window = 0;
  /// They are divided by √head_dim.
  bool byHeadDim = true;
  /// They are divided by the root of this number instead, unless it is 0.
  double scalar = 0;
  /// A score s becomes cap · tanh(s / cap) before the mask; 0 = it stays.
  double cap = 0;
  /// Those of layer i, from 0, are divided by i + 1.
  bool byLayer = false;
  /// The share of probabilities that dropout clears.
  double dropout = 0;

  double getScale(int64_t headDim) const;
  void describe(KindDescription &kind) const;
};

/// The norm of queries and keys, before positions.
struct HeadNorm {
  enum class Over {
    None,
    Head,     ///< of each head, by one weight of head_dim
    AllHeads, ///< of all heads together, by a weight of heads · head_dim
  };
  Over over = Over::None;
  Norm norm;

  void describe(KindDescription &kind) const;
};

/// Query head h uses key and value head h / (heads / kvHeads).
class GroupedAttention : public LayerPart {
public:
  int64_t heads = 0;
  /// Divides `heads`.
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  bool queryKeyValueBias = false, outputBias = false;
  /// Files hold queries, keys and values as one tensor, qkv_proj, in this order.
  bool isJoint = false;
  HeadNorm headNorm;
  /// None: its queries and keys do not know their positions.
  std::optional<Rotary> rotary = Rotary();
  Scores scores;

  llvm::StringRef getName() const override { return "grouped"; }
  Value build(LayerBuilder &layer, Value x) const override;
  void describe(KindDescription &kind) const override;
};

} // namespace mlir::par

#endif // PAR_IMPORT_ATTENTION_H
