//===- SmolLM3.cpp - SmolLM 3: Llama, some of whose layers have no positions ----------------------------===//

#include "LayerPattern.h"
#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

/// Tells which layers have rotary positions: `no_rope_layers` holds 1 for those that have them, in spite of
/// its name. Without it every `no_rope_layer_interval`-th has none.
static std::vector<bool> readRotaryLayers(ConfigReader &reader, int64_t layers) {
  constexpr int64_t usual = 4;
  int64_t interval = reader.size("no_rope_layer_interval", usual);
  std::vector<bool> rotary = reader.flags("no_rope_layers");
  bool isGiven = !rotary.empty();
  if (isGiven && rotary.size() != size_t(layers))
    reader.fail("no_rope_layers",
                "'no_rope_layers' has " + Twine(rotary.size()) + " entries for " + Twine(layers) + " layers");
  rotary.resize(layers);
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool expected = (layer + 1) % interval != 0;
    if (!isGiven)
      rotary[layer] = expected;
    else if (rotary[layer] != expected && interval != usual)
      reader.fail("no_rope_layers",
                  "'no_rope_layers' says that layer " + Twine(layer) + (expected ? " has no" : " has") +
                      " rotary positions, but 'no_rope_layer_interval' the opposite; remove "
                      "one of them");
  }
  return rotary;
}

static void read(ConfigReader &reader, ModelConfig &config) {
  // `SmolLM3Config`'s defaults.
  config.vocab = 128256;
  config.maxPositions = 32768;
  config.hidden = 2048;
  RotaryDecoder decoder;
  decoder.layers = 36;
  decoder.tied = true;
  decoder.paddingToken = 128004;
  decoder.attention.heads = 16;
  decoder.attention.kvHeads = 4;
  decoder.attention.rotary->theta = 2000000.0;
  decoder.feedForward.width = 11008;
  decoder.read(reader, config);
  decoder.readAttentionBias(reader);
  decoder.feedForward.bias = reader.boolean("mlp_bias", false);

  std::vector<bool> rotary = readRotaryLayers(reader, decoder.layers);
  // The layers without positions have a window, if any has.
  bool used = reader.boolean("use_sliding_window", false);
  int64_t window = reader.size("sliding_window", 0);
  LayerPattern pattern{"no_rope_layers", false,
                       [&](int64_t layer) { return used && window && !rotary[layer]; }};
  std::vector<int64_t> windows = readWindows(reader, decoder.layers, pattern, used ? window : 0);
  // A key of Qwen, left over in published configs.
  reader.harmless({"max_window_layers"});
  decoder.addLayersOf(config, [&](int64_t layer, GroupedAttention &attention) {
    attention.scores.window = windows[layer];
    if (!rotary[layer])
      attention.rotary.reset();
  });
}

const Family smolLM3Family = {"smollm3", read, "SmolLM3ForCausalLM"};

} // namespace mlir::par
