//===- ModelConfig.h - a Hugging Face config.json, read and checked ---------------------------*- C++ -*-===//
// What a `config.json` says about a decoder-only transformer, independent of
// how a family spells its keys. Reading follows Hugging Face Transformers 4
// and 5: an absent key has the default of the family's configuration class.

#ifndef PAR_IMPORT_MODELCONFIG_H
#define PAR_IMPORT_MODELCONFIG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::par {

/// The non-linearity of an MLP.
enum class Activation {
  GeluTanh, ///< 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
  Gelu,     ///< 0.5·x·(1 + erf(x/√2))
  Relu,     ///< max(x, 0)
  Silu,     ///< x·σ(x), σ(x) = 1 / (1 + exp(−x))
};

/// What normalises the last dimension before attention, MLP and head.
enum class Norm {
  Rms,         ///< weight·x / √(mean(x²) + eps)
  Layer,       ///< weight·(x − mean) / √(var + eps) + bias
  Standardize, ///< (x − mean) / √(var + eps)
};

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
};

/// The `headDim / 2` inverse frequencies in radians per position:
/// f_i = theta^(−2i/headDim), scaled as `rotary.scaling` says.
std::vector<double> inverseFrequencies(const Rotary &rotary, int64_t headDim);

/// A decoder-only transformer. Sizes are element counts and at least 1.
struct ModelConfig {
  std::string modelType;
  /// The whole config.json with its overrides.
  std::string json;
  /// What is reported as ignored: the config's path, and keys of the file that are notes of other tools, sorted.
  std::string file;
  std::vector<std::string> ignoredKeys;
  int64_t vocab = 0;
  int64_t maxPositions = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  /// Divides `heads`; query head h uses kv head h / (heads / kvHeads).
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  /// Width of the MLP.
  int64_t intermediate = 0;
  Activation activation = Activation::GeluTanh;
  Norm norm = Norm::Rms;
  double normEpsilon = 1e-5;
  /// Standard deviation of initial weights.
  double initializerRange = 0.02;
  /// The head uses the embedding's matrix.
  bool tied = false;
  /// The token whose row of the embedding begins as zeros and gets no gradient from look-ups.
  std::optional<int64_t> paddingToken;
  bool queryKeyValueBias = false;
  bool outputBias = false;
  bool mlpBias = false;
  /// Probabilities in [0, 1) with which an element is dropped.
  double embeddingDropout = 0.0;
  double attentionDropout = 0.0;
  double residualDropout = 0.0;
  /// Scores are divided by √head_dim.
  bool scaleByHeadDim = true;
  /// Scores of layer i, from 0, are divided by i + 1.
  bool scaleByLayer = false;
  /// Absent: learned absolute positions.
  std::optional<Rotary> rotary;
  /// One entry per layer: query i sees keys j with i − W < j ≤ i; 0 = no limit.
  std::vector<int64_t> windows;
};

/// An error in a model's configuration: one line of text and where it belongs.
class ConfigError : public llvm::ErrorInfo<ConfigError> {
public:
  static char ID;
  /// `line` and `column` count from 1; 0 = the file as a whole. Control
  /// characters of either text become spaces, so that an error is one line.
  ConfigError(std::string file, unsigned line, unsigned column, std::string message);

  llvm::StringRef getFile() const { return file; }
  unsigned getLine() const { return line; }
  unsigned getColumn() const { return column; }
  llvm::StringRef getMessage() const { return message; }

  /// `file:line:column: message`
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string file;
  unsigned line, column;
  std::string message;
};

/// Reads `model`, a `config.json` or a folder that holds one, after applying
/// `overrides` (`key=value`, the value being JSON, else a string) to the
/// top-level keys. Every failure is one `ConfigError`: unreadable or malformed
/// file, unknown model type, wrong type, impossible value, and a key that
/// changes what the model computes and is not built. A key that is unknown is
/// refused for the same reason; `null` counts as absent. Unknown keys of the
/// file that begin with `_` or hold a dot, which no configuration class reads,
/// are ignored and listed in the result.
llvm::Expected<ModelConfig> loadModelConfig(llvm::StringRef model,
                                            llvm::ArrayRef<std::string> overrides = {});

} // namespace mlir::par

#endif // PAR_IMPORT_MODELCONFIG_H
