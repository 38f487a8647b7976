//===- Llama.cpp - Llama 1 to 3.2 -----------------------------------------------------------------------===//

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `LlamaConfig`'s defaults.
  ModelConfig absent;
  absent.vocab = 32000;
  absent.maxPositions = 2048;
  absent.hidden = 4096;
  absent.layers = 32;
  absent.heads = 32;
  absent.intermediate = 11008;
  absent.normEpsilon = 1e-6;
  readRotaryDecoder(reader, config, absent);
  config.queryKeyValueBias = reader.boolean("attention_bias", false);
  config.outputBias = config.queryKeyValueBias;
  config.mlpBias = reader.boolean("mlp_bias", false);
  reader.absent("sliding_window", "limits attention to a window");
  reader.only("use_sliding_window", false, "limits attention to a window");
}

const Family llamaFamily = {"llama",          read,           addRotaryDecoderParameters, buildRotaryEmbed,
                            buildRotaryBlock, buildRotaryHead};

} // namespace mlir::par
