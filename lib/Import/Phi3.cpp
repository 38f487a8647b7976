//===- Phi3.cpp - Phi 3 and 4: Llama whose files hold projections together ------------------------------===//

#include "par/Import/Family.h"

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `Phi3Config`'s defaults.
  config.vocab = 32064;
  config.maxPositions = 4096;
  config.hidden = 3072;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.norm.epsilon = 1e-5;
  decoder.paddingToken = 32000;
  decoder.attention.heads = 32;
  decoder.attention.isJoint = decoder.feedForward.isJoint = true;
  decoder.feedForward.width = 8192;
  decoder.read(reader, config);
  decoder.attention.scores.window = reader.size("sliding_window", 0);
  decoder.block.dropout = reader.probability("resid_pdrop", 0.0);
  // No layer of Transformers' class reads it.
  reader.harmless({"embd_pdrop"});
  // The context of the models that `longrope` extends, which is refused.
  reader.harmless({"original_max_position_embeddings"});
  reader.only("attention_bias", false, "adds biases");
  reader.only("mlp_bias", false, "adds biases");
  reader.only("lm_head_bias", false, "adds a bias to the head");
  decoder.addLayers(config);
}

const Family phi3Family = {"phi3", read, "Phi3ForCausalLM", /*isPublishedWithCode=*/true};

} // namespace mlir::par
