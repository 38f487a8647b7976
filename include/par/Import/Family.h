//===- Family.h - what a model family provides ------------------------------------------------*- C++ -*-===//
// A family is one file: how its config spells things, which parameters it has
// and what its layers compute. `families()` in Families.cpp lists them.

#ifndef PAR_IMPORT_FAMILY_H
#define PAR_IMPORT_FAMILY_H

#include "par/Import/ConfigReader.h"
#include "par/Import/LayerBuilder.h"
#include "par/Import/Parameters.h"

namespace mlir::par {

struct Family {
  /// The value of `model_type`.
  llvm::StringLiteral modelType;
  /// Reads the family's own keys; those of every family are read already.
  void (*read)(ConfigReader &reader, ModelConfig &config);
  void (*addParameters)(const ModelConfig &config, ModelParameters &model);
  /// The bodies of the three kinds of layers. Parameters go by their local
  /// names; `lm_head.weight` is always there, tied or not.
  /// tokens [batch, seq] -> [batch, seq, embed]
  Value (*buildEmbed)(LayerBuilder &layer, Value tokens);
  /// [batch, seq, embed] -> the same; `window` as in `ModelConfig::windows`
  Value (*buildBlock)(LayerBuilder &layer, Value x, int64_t window);
  /// [batch, seq, embed] -> logits [batch, seq, vocab]
  Value (*buildHead)(LayerBuilder &layer, Value x);
};

llvm::ArrayRef<const Family *> families();
/// Null if no family has this name.
const Family *findFamily(llvm::StringRef modelType);

extern const Family gpt2Family, llamaFamily, mistralFamily, olmoFamily, qwen2Family;

/// Keys that every configuration class of Transformers 4 and 5 has.
void readCommonKeys(ConfigReader &reader);
/// `rope_theta`, `rope_scaling` and `rope_parameters`; needs `maxPositions`.
void readRotary(ConfigReader &reader, ModelConfig &config);

/// Llama and its relatives: rotary positions, one kind of norm, a gated MLP and
/// grouped queries. Reads the keys that they share; `absent` holds each family's
/// defaults.
void readRotaryDecoder(ConfigReader &reader, ModelConfig &config, const ModelConfig &absent);
/// The parameters of such a decoder.
void addRotaryDecoderParameters(const ModelConfig &config, ModelParameters &model);
Value buildRotaryEmbed(LayerBuilder &layer, Value tokens);
Value buildRotaryBlock(LayerBuilder &layer, Value x, int64_t window);
Value buildRotaryHead(LayerBuilder &layer, Value x);

/// Makes a parameter initialised from a normal distribution whose file layout
/// is the logical one with neighbouring dimensions merged into `fileShape`.
Parameter makeWeight(llvm::StringRef local, std::vector<Dimension> dims, std::vector<int64_t> fileShape,
                     double deviation);
/// A one-dimensional parameter in the file, filled with zeros or ones.
Parameter makeVector(llvm::StringRef local, std::vector<Dimension> dims, InitKind init);

/// Sets symbol and file name: `prefix` and the local name, in the file with
/// `root` before it.
void setNames(Parameter &parameter, const llvm::Twine &prefix, llvm::StringRef root);
void setNames(std::vector<Parameter> &layer, const llvm::Twine &prefix, llvm::StringRef root);

/// More layers than any model has; bounds the length of a parameter list.
constexpr int64_t maxLayers = 1024;

} // namespace mlir::par

#endif // PAR_IMPORT_FAMILY_H
