//===- RotaryDecoder.cpp - keys and layers of Llama's relatives -----------------------------------------===//

#include "par/Import/Family.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace llvm;

namespace mlir::par {

static void readHeads(ConfigReader &reader, const ModelConfig &config, GroupedAttention &attention) {
  attention.heads = reader.size("num_attention_heads", attention.heads);
  attention.kvHeads =
      reader.size("num_key_value_heads", attention.kvHeads ? attention.kvHeads : attention.heads);
  if (reader.isNull("num_key_value_heads"))
    attention.kvHeads = attention.heads;
  if (attention.heads % attention.kvHeads)
    reader.fail("num_key_value_heads",
                "'num_key_value_heads' is " + Twine(attention.kvHeads) +
                    ", which does not divide 'num_attention_heads' = " + Twine(attention.heads));
  std::optional<int64_t> headDim = reader.optionalSize("head_dim");
  if (!headDim && attention.headDim)
    headDim = attention.headDim;
  if (!headDim && config.hidden % attention.heads)
    reader.fail("num_attention_heads", "'num_attention_heads' is " + Twine(attention.heads) +
                                           ", which does not divide 'hidden_size' = " + Twine(config.hidden) +
                                           ", and 'head_dim' is absent");
  attention.headDim = headDim.value_or(config.hidden / attention.heads);
}

void RotaryDecoder::checkRotary(ConfigReader &reader, const Rotary &rotary) const {
  int64_t rotated = static_cast<int64_t>(attention.headDim * rotary.share);
  StringRef key = reader.has("head_dim") ? "head_dim" : "hidden_size";
  if (rotary.share == 1 && rotated % 2)
    reader.fail(key, "the head dimension is " + Twine(rotated) +
                         ", expected an even number: rotary positions rotate pairs");
  else if (rotated % 2 || rotated == 0)
    reader.fail(key, "the head dimension is " + Twine(attention.headDim) +
                         ", of which 'partial_rotary_factor' = " +
                         llvm::to_string(json::Value(rotary.share)) + " rotates " + Twine(rotated) +
                         " elements, expected an even number of at least 2: rotary positions rotate pairs");
}

void RotaryDecoder::read(ConfigReader &reader, ModelConfig &config) {
  readButRotary(reader, config);
  attention.rotary = readRotary(reader, config.maxPositions, *attention.rotary);
  checkRotary(reader, *attention.rotary);
}

RotaryOfKinds RotaryDecoder::readRotaryOfKinds(ConfigReader &reader, const ModelConfig &config,
                                               RotaryOfKinds rotary) const {
  rotary = par::readRotaryOfKinds(reader, config.maxPositions, rotary);
  checkRotary(reader, rotary.full);
  checkRotary(reader, rotary.windowed);
  return rotary;
}

void RotaryDecoder::readAttentionBias(ConfigReader &reader) {
  attention.queryKeyValueBias = attention.outputBias = reader.boolean("attention_bias", false);
}

void RotaryDecoder::readButRotary(ConfigReader &reader, ModelConfig &config) {
  config.vocab = reader.size("vocab_size", config.vocab);
  config.maxPositions = reader.size("max_position_embeddings", config.maxPositions);
  config.hidden = reader.size("hidden_size", config.hidden);
  layers = reader.size("num_hidden_layers", layers, maxLayers);
  feedForward.width = reader.size("intermediate_size", feedForward.width);
  readHeads(reader, config, attention);
  feedForward.activation = reader.activation(activationKey, activation);
  // Transformers has no key for the epsilon of a norm without parameters.
  if (norm.type == Norm::Type::Rms)
    norm.epsilon = reader.epsilon("rms_norm_eps", norm.epsilon);
  config.initializerRange = reader.nonNegative("initializer_range", 0.02);
  tied = reader.boolean("tie_word_embeddings", tied);
  paddingToken = reader.row("pad_token_id", config.vocab, paddingToken);
  attention.scores.dropout = reader.probability("attention_dropout", 0.0);
  reader.only("rope_interleaved", false, "rotates neighbouring elements");
  // `pretraining_tp`: into how many parts the sums of projections were once split; Transformers 5 ignores it.
  reader.harmless({"is_llama_config", "max_sequence_length", "pretraining_tp"});
}

void RotaryDecoder::addLayers(ModelConfig &config, function_ref<void(int64_t, BlockLayer &)> change) const {
  EmbeddingLayer embedding;
  embedding.paddingToken = paddingToken;
  embedding.scale = embeddingScale;
  config.addLayer(share(embedding));
  BlockLayer block = this->block;
  block.norm = norm;
  block.attention = share(attention);
  block.feedForward = share(feedForward);
  SharedPart same = share(block);
  for (int64_t i = 0; i < layers; ++i) {
    BlockLayer other = block;
    if (change)
      change(i, other);
    config.addBlock(change ? share(other) : same);
  }
  HeadLayer head;
  head.norm = norm;
  head.tied = tied;
  head.cap = logitCap;
  config.addLayer(share(head));
}

void RotaryDecoder::addLayersOf(ModelConfig &config,
                                function_ref<void(int64_t, GroupedAttention &)> change) const {
  addLayers(config, [&](int64_t i, BlockLayer &block) {
    GroupedAttention own = attention;
    change(i, own);
    block.attention = share(own);
  });
}

void RotaryDecoder::addWindowedLayers(ModelConfig &config, const std::vector<int64_t> &windows,
                                      const RotaryOfKinds *rotary) const {
  addLayersOf(config, [&](int64_t i, GroupedAttention &own) {
    own.scores.window = windows[i];
    if (rotary)
      own.rotary = windows[i] ? rotary->windowed : rotary->full;
  });
}

} // namespace mlir::par
