//===- Olmo.cpp - OLMo 1: Llama with norms that have no parameters --------------------------------------===//

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `OlmoConfig`'s defaults. The norm's epsilon is fixed.
  ModelConfig absent;
  absent.vocab = 50304;
  absent.maxPositions = 2048;
  absent.hidden = 4096;
  absent.layers = 32;
  absent.heads = 32;
  absent.intermediate = 11008;
  absent.norm = Norm::Standardize;
  absent.normEpsilon = 1e-5;
  absent.paddingToken = 1;
  readRotaryDecoder(reader, config, absent);
  config.queryKeyValueBias = reader.boolean("attention_bias", false);
  config.outputBias = config.queryKeyValueBias;
  reader.absent("clip_qkv", "clips queries, keys and values");
}

const Family olmoFamily = {"olmo",           read,           addRotaryDecoderParameters, buildRotaryEmbed,
                           buildRotaryBlock, buildRotaryHead};

} // namespace mlir::par
