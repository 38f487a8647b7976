//===- LayerPattern.cpp - which layers are of another kind ----------------------------------------------===//
#include "LayerPattern.h"

using namespace llvm;

namespace mlir::par {

static StringRef nameOf(bool hasWindow) { return hasWindow ? "sliding_attention" : "full_attention"; }

/// `layer_types`, one for each layer, or nothing.
static std::vector<std::string> readTypes(ConfigReader &reader, int64_t layers) {
  std::vector<std::string> types = reader.texts("layer_types");
  if (!types.empty() && types.size() != size_t(layers))
    reader.fail("layer_types",
                "'layer_types' has " + Twine(types.size()) + " entries for " + Twine(layers) + " layers");
  types.resize(types.empty() ? 0 : layers, nameOf(false).str());
  for (const std::string &type : types)
    if (type != nameOf(false) && type != nameOf(true))
      reader.fail("layer_types", "'layer_types' has \"" + type +
                                     "\", which is not supported; supported are full_attention and "
                                     "sliding_attention");
  return types;
}

std::vector<bool> readWindowedLayers(ConfigReader &reader, int64_t layers, const LayerPattern &pattern) {
  std::vector<std::string> types = readTypes(reader, layers);
  std::vector<bool> windowed;
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool expected = pattern.hasWindow(layer);
    windowed.push_back(types.empty() ? expected : types[layer] == nameOf(true));
    if (pattern.isChosen && windowed.back() != expected)
      reader.fail("layer_types", "'layer_types' says that layer " + Twine(layer) + " has " + types[layer] +
                                     ", but '" + pattern.key + "' that it has " + nameOf(expected) +
                                     "; remove one of them");
  }
  return windowed;
}

std::vector<int64_t> readQwenWindows(ConfigReader &reader, int64_t layers) {
  bool used = reader.boolean("use_sliding_window", false);
  int64_t window = reader.isNull("sliding_window") ? 0 : reader.size("sliding_window", 4096);
  // Zero is common: every layer has the window. Any number is compared, as Transformers does.
  constexpr double usual = 28;
  double first = reader.nonNegative("max_window_layers", usual);
  LayerPattern pattern{"max_window_layers", used && reader.has("max_window_layers") && first != usual,
                       [&](int64_t layer) { return static_cast<double>(layer) >= first; }};
  std::vector<int64_t> windows;
  for (bool hasWindow : readWindowedLayers(reader, layers, pattern))
    windows.push_back(used && hasWindow ? window : 0);
  return windows;
}

} // namespace mlir::par
