//===- FoldLayers.cpp - layers that say the same, told once ---------------------------------------------===//
#include "par/Support/FoldLayers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::par;

/// The digits at `at`, if they are a whole part of a dotted name, and neither its first nor its last one.
static llvm::StringRef getNumber(llvm::StringRef text, size_t at) {
  if (at < 2 || text[at - 1] != '.' || !llvm::isAlpha(text[at - 2]))
    return "";
  llvm::StringRef digits = text.substr(at).take_while(llvm::isDigit);
  llvm::StringRef rest = text.substr(at + digits.size());
  return rest.size() > 1 && rest[0] == '.' && llvm::isAlpha(rest[1]) ? digits : "";
}

LayerText mlir::par::foldLayer(llvm::StringRef text, llvm::StringRef number) {
  LayerText folded;
  for (size_t at = 0; at < text.size();) {
    llvm::StringRef digits = getNumber(text, at);
    int64_t layer = 0;
    if (digits.empty() || digits.getAsInteger(10, layer)) {
      folded.text += text[at++];
      continue;
    }
    if (folded.layer && *folded.layer != layer)
      return {text.str(), std::nullopt};
    folded.layer = layer;
    folded.text += number;
    at += digits.size();
  }
  return folded;
}
