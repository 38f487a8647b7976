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

std::vector<int64_t> readWindows(ConfigReader &reader, int64_t layers, const LayerPattern &pattern,
                                 int64_t window) {
  std::vector<std::string> types = readTypes(reader, layers);
  std::vector<int64_t> windows;
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool expected = pattern.hasWindow(layer);
    bool hasWindow = types.empty() ? expected : types[layer] == nameOf(true);
    if (pattern.isChosen && hasWindow != expected)
      reader.fail("layer_types", "'layer_types' says that layer " + Twine(layer) + " has " + types[layer] +
                                     ", but '" + pattern.key + "' that it has " + nameOf(expected) +
                                     "; remove one of them");
    windows.push_back(hasWindow ? window : 0);
  }
  return windows;
}

} // namespace mlir::par
