//===- Family.h - what a model family provides ------------------------------------------------*- C++ -*-===//
// A family is one file: how its config spells things, and of which layers its
// models consist (docs/AddingAFamily.md). `builtIn` in Families.cpp lists them.

#ifndef PAR_IMPORT_FAMILY_H
#define PAR_IMPORT_FAMILY_H

#include "par/Import/Attention.h"
#include "par/Import/ConfigReader.h"
#include "par/Import/FeedForward.h"
#include "par/Import/ModelConfig.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::par {

struct Family {
  /// The value of `model_type`.
  llvm::StringLiteral modelType;
  /// Reads the family's own keys, those of every family being read already, and adds the layers.
  void (*read)(ConfigReader &reader, ModelConfig &config);
  /// Transformers' class of such a model, which an exported folder names; empty: what the config names.
  llvm::StringLiteral architecture = "";
  /// Published configs name Python code that Transformers has as its own class by now.
  bool isPublishedWithCode = false;
};

/// All families by name: those of par, and those that were registered.
const std::vector<const Family *> &families();
/// Makes `family`, which lives as long as the program, known to every import that begins later. False if its
/// name is taken.
bool registerFamily(const Family &family);

extern const Family gemma2Family, gemma3TextFamily, gpt2Family, llamaFamily, mistralFamily, olmoFamily,
    olmo2Family, olmo3Family, phi3Family, qwen2Family, qwen3Family, smolLM3Family;

/// Keys that every configuration class of Transformers 4 and 5 has.
void readCommonKeys(ConfigReader &reader);
/// `rope_theta`, `rope_scaling` and `rope_parameters`; `rotary` holds what absent keys mean.
Rotary readRotary(ConfigReader &reader, int64_t maxPositions, Rotary rotary = Rotary());
/// Rotary positions of layers that see all tokens, and of those that see a window.
struct RotaryOfKinds {
  Rotary full, windowed;
};
/// The keys are the same where kinds of layers differ: `rope_scaling` is that of full layers, and
/// `rope_parameters` holds a dictionary for each kind.
RotaryOfKinds readRotaryOfKinds(ConfigReader &reader, int64_t maxPositions, RotaryOfKinds rotary);

/// Llama and its relatives: rotary positions, one kind of norm, a gated feed-forward and grouped queries.
struct RotaryDecoder {
  int64_t layers = 0;
  Norm norm;
  bool tied = false;
  std::optional<int64_t> paddingToken;
  /// No `kvHeads`: as many as heads.
  GroupedAttention attention;
  GatedFeedForward feedForward;
  /// The key that names the activation, and what its absence means.
  llvm::StringRef activationKey = "hidden_act", activation = "silu";
  /// Its names of norms and its dropout are those of all blocks.
  BlockLayer block;
  double embeddingScale = 1, logitCap = 0;

  /// Reads the keys that they share. What a family set here and in `config` before is its defaults.
  void read(ConfigReader &reader, ModelConfig &config);
  /// Reads them but for rotary positions, of which the family has several.
  void readButRotary(ConfigReader &reader, ModelConfig &config);
  /// Reads rotary positions where kinds of layers have their own; `rotary` holds what absent keys mean.
  RotaryOfKinds readRotaryOfKinds(ConfigReader &reader, const ModelConfig &config,
                                  RotaryOfKinds rotary) const;
  /// Reads `attention_bias` where it is that of all four projections.
  void readAttentionBias(ConfigReader &reader);
  /// Adds the layers to `config`; `change` makes block i another kind.
  void addLayers(ModelConfig &config,
                 llvm::function_ref<void(int64_t i, BlockLayer &block)> change = nullptr) const;
  /// Adds layers that differ in their attention alone; `change` makes that of block i.
  void addLayersOf(ModelConfig &config,
                   llvm::function_ref<void(int64_t i, GroupedAttention &attention)> change) const;
  /// Adds layers with these windows, 0 for none. `rotary`, if there is one, has positions of either kind.
  void addWindowedLayers(ModelConfig &config, const std::vector<int64_t> &windows,
                         const RotaryOfKinds *rotary = nullptr) const;

private:
  /// Refuses heads that `rotary` cannot rotate.
  void checkRotary(ConfigReader &reader, const Rotary &rotary) const;
};

/// More layers than any model has; bounds the length of a parameter list.
constexpr int64_t maxLayers = 1024;

} // namespace mlir::par

#endif // PAR_IMPORT_FAMILY_H
