//===- Mistral.cpp - Mistral: Llama with a sliding window -----------------------------------------------===//

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

static void read(ConfigReader &reader, ModelConfig &config) {
  // `MistralConfig`'s defaults.
  ModelConfig absent;
  absent.vocab = 32000;
  absent.maxPositions = 4096 * 32;
  absent.hidden = 4096;
  absent.layers = 32;
  absent.heads = 32;
  absent.kvHeads = 8;
  absent.intermediate = 14336;
  absent.normEpsilon = 1e-6;
  readRotaryDecoder(reader, config, absent);
  // Absent means 4096, null means no window.
  bool unlimited = reader.isNull("sliding_window");
  int64_t window = reader.size("sliding_window", 4096);
  config.windows.assign(config.layers, unlimited ? 0 : window);
}

const Family mistralFamily = {"mistral",        read,           addRotaryDecoderParameters, buildRotaryEmbed,
                              buildRotaryBlock, buildRotaryHead};

} // namespace mlir::par
