//===- JsonScanner.h - what a JSON parser does not say ----------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_JSONSCANNER_H
#define PAR_SUPPORT_JSONSCANNER_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir::par {

/// Walks JSON text without judging it: finds top-level keys, keys that an object has twice, and depth.
class JsonScanner {
public:
  /// Line and column, both from 1.
  using Place = std::pair<unsigned, unsigned>;

  explicit JsonScanner(llvm::StringRef text) : text(text) {}

  /// False if brackets nest deeper than `maxDepth`.
  bool run(unsigned maxDepth);
  /// Where it ended.
  unsigned getLine() const { return line; }

  llvm::StringMap<Place> topLevel;
  /// The second of two equal keys (as they read: "\u0061" is "a") of one object, and the line of the first.
  std::optional<Place> doubled;
  std::string doubledKey;
  unsigned firstLine = 0;

private:
  void advance();
  void scanString();
  void addKey(llvm::StringRef key, Place place);

  llvm::StringRef text;
  size_t at = 0;
  unsigned line = 1, column = 1;
  std::vector<llvm::StringMap<Place>> objects; ///< keys of what is open, of lists none
};

} // namespace mlir::par

#endif // PAR_SUPPORT_JSONSCANNER_H
