//===- Qwen.cpp - Qwen 2 and 3: Llama with biases, or with norms of heads ---------------------------===//

#include "LayerPattern.h"
#include "par/Import/Family.h"

namespace mlir::par {

/// Makes a decoder with the defaults of `Qwen2Config` and `Qwen3Config`.
static RotaryDecoder makeDecoder(ModelConfig &config) {
  config.vocab = 151936;
  config.maxPositions = 32768;
  config.hidden = 4096;
  RotaryDecoder decoder;
  decoder.layers = 32;
  decoder.attention.heads = 32;
  decoder.attention.kvHeads = 32;
  decoder.feedForward.width = 22016;
  return decoder;
}

/// Adds layers of which those from `max_window_layers` on, or of that type, have a window if it is used.
static void addLayers(ConfigReader &reader, ModelConfig &config, const RotaryDecoder &decoder) {
  bool used = reader.boolean("use_sliding_window", false);
  int64_t window = reader.isNull("sliding_window") ? 0 : reader.size("sliding_window", 4096);
  // Zero is common: every layer has the window. Any number is compared, as Transformers does.
  constexpr double usual = 28;
  double first = reader.nonNegative("max_window_layers", usual);
  LayerPattern pattern{"max_window_layers", used && reader.has("max_window_layers") && first != usual,
                       [&](int64_t layer) { return static_cast<double>(layer) >= first; }};
  decoder.addWindowedLayers(config, readWindows(reader, decoder.layers, pattern, used ? window : 0));
}

static void readQwen2(ConfigReader &reader, ModelConfig &config) {
  RotaryDecoder decoder = makeDecoder(config);
  decoder.read(reader, config);
  decoder.attention.queryKeyValueBias = true;
  // This key of multimodal relatives is left over in some configs.
  reader.only("use_mrope", false, "uses multimodal rotary positions");
  addLayers(reader, config, decoder);
}

static void readQwen3(ConfigReader &reader, ModelConfig &config) {
  RotaryDecoder decoder = makeDecoder(config);
  // Heads have this size whatever the hidden size is.
  decoder.attention.headDim = 128;
  decoder.read(reader, config);
  decoder.readAttentionBias(reader);
  decoder.attention.headNorm = {HeadNorm::Over::Head, decoder.norm};
  addLayers(reader, config, decoder);
}

const Family qwen2Family = {"qwen2", readQwen2, "Qwen2ForCausalLM"};
const Family qwen3Family = {"qwen3", readQwen3, "Qwen3ForCausalLM"};

} // namespace mlir::par
