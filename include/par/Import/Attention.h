//===- Attention.h - kinds of attention, and what they share ----------------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_ATTENTION_H
#define PAR_IMPORT_ATTENTION_H

#include "par/Import/LayerKind.h"

namespace mlir::par {

/// Rotary position embedding: the inverse frequencies are a function of these.
struct Rotary {
  enum class Scaling { None, Linear, Llama3 };
  double theta = 10000.0;
  Scaling scaling = Scaling::None;
  /// Linear and Llama3: every (Llama3: every low) frequency is divided by it.
  double factor = 1.0;
  /// Llama3: wavelengths below `originalPositions / highFrequencyFactor` are
  /// kept, those above `originalPositions / lowFrequencyFactor` are scaled.
  double lowFrequencyFactor = 1.0;
  double highFrequencyFactor = 4.0;
  double originalPositions = 0.0;

  void describe(KindDescription &kind) const;
};

/// The `headDim / 2` inverse frequencies in radians per position:
/// f_i = theta^(−2i/headDim), scaled as `rotary.scaling` says.
std::vector<double> inverseFrequencies(const Rotary &rotary, int64_t headDim);

/// How scores become probabilities, whatever made queries, keys and values.
struct Scores {
  /// Query i sees keys j with i − window < j ≤ i; 0 = no limit.
  int64_t window = 0;
  /// They are divided by √head_dim.
  bool byHeadDim = true;
  /// Those of layer i, from 0, are divided by i + 1.
  bool byLayer = false;
  /// The share of probabilities that dropout clears.
  double dropout = 0;

  void describe(KindDescription &kind) const;
};

/// Rotary positions; query head h uses key and value head h / (heads / kvHeads).
class GroupedAttention : public LayerPart {
public:
  int64_t heads = 0;
  /// Divides `heads`.
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  bool queryKeyValueBias = false, outputBias = false;
  Rotary rotary;
  Scores scores;

  llvm::StringRef getName() const override { return "grouped"; }
  Value build(LayerBuilder &layer, Value x) const override;
  void describe(KindDescription &kind) const override;
};

} // namespace mlir::par

#endif // PAR_IMPORT_ATTENTION_H
