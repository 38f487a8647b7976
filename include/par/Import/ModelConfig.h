//===- ModelConfig.h - a Hugging Face config.json, read and checked ---------------------------*- C++ -*-===//
// What a `config.json` says about a decoder-only transformer, independent of
// how a family spells its keys. Reading follows Hugging Face Transformers 4
// and 5: an absent key has the default of the family's configuration class.

#ifndef PAR_IMPORT_MODELCONFIG_H
#define PAR_IMPORT_MODELCONFIG_H

#include "par/Import/LayerKind.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::par {

/// A decoder-only transformer. Sizes are element counts and at least 1.
struct ModelConfig {
  std::string modelType;
  /// The whole config.json with its overrides, its class being that of the family.
  std::string json;
  /// What is reported as ignored: the config's path, and keys of the file that are notes of other tools,
  /// sorted.
  std::string file;
  std::vector<std::string> ignoredKeys;
  /// Each sentence names another part of the file that is left out.
  std::vector<std::string> notes;
  int64_t vocab = 0;
  int64_t maxPositions = 0;
  int64_t hidden = 0;
  /// Standard deviation of initial weights.
  double initializerRange = 0.02;
  /// What the names of tensors in files begin with; `lm_head.weight` stands outside.
  std::string root = "model.";
  /// The module that holds the blocks.
  std::string blocks = "layers";
  /// Embedding, blocks, head.
  std::vector<ModelLayer> layers;
  /// Layers read position and document of each token; else positions are those of the sequence. No key of the
  /// file: the user's decision.
  bool isolatesDocuments = false;

  void addLayer(SharedPart kind) { layers.push_back({std::move(kind), std::nullopt, ""}); }
  /// Appends the next of the blocks.
  void addBlock(SharedPart kind);
  int64_t countBlocks() const;
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
