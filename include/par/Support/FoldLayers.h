//===- FoldLayers.h - layers that say the same, told once -------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_FOLDLAYERS_H
#define PAR_SUPPORT_FOLDLAYERS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::par {

/// A text about one layer, with "*" for its number: "@layers.7.mlp.weight" -> "@layers.*.mlp.weight" and 7.
struct LayerText {
  std::string text;
  std::optional<int64_t> layer; ///< none: it is about no layer, or about several, and the text is as it was
};

/// Numbers of layers are those between dots in names of parameters: "layers.7.mlp", "h.7.attn".
/// `number` stands for them in the text.
LayerText foldLayer(llvm::StringRef text, llvm::StringRef number = "*");

} // namespace mlir::par

#endif // PAR_SUPPORT_FOLDLAYERS_H
