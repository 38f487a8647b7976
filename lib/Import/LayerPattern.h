//===- LayerPattern.h - which layers are of another kind ---------------------------------------*- C++
//-*-===//
#ifndef PAR_LIB_IMPORT_LAYERPATTERN_H
#define PAR_LIB_IMPORT_LAYERPATTERN_H

#include "par/Import/ConfigReader.h"

#include <functional>

namespace mlir::par {

/// The key that told layers apart before `layer_types` did, and how.
struct LayerPattern {
  llvm::StringLiteral key;
  /// Somebody chose its value: a config may hold the default of its class, whatever else it says.
  bool isChosen;
  std::function<bool(int64_t layer)> hasWindow;
};

/// The window of each layer: `window`, or 0 for none, by `layer_types`, else by `pattern`. A list of another
/// length, an unknown kind, and a pattern that says otherwise are errors.
std::vector<int64_t> readWindows(ConfigReader &reader, int64_t layers, const LayerPattern &pattern,
                                 int64_t window);

} // namespace mlir::par

#endif // PAR_LIB_IMPORT_LAYERPATTERN_H
