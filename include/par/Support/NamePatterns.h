//===- NamePatterns.h - sets of names by patterns ---------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_NAMEPATTERNS_H
#define PAR_SUPPORT_NAMEPATTERNS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <string>
#include <vector>

namespace mlir::par {

/// Names that one of several patterns matches as a whole: `*` is any text, dots included, `?` any character,
/// `[0-3]` one of several.
class NamePatterns {
public:
  NamePatterns() = default;
  /// Errors name the pattern.
  static llvm::Expected<NamePatterns> parse(llvm::ArrayRef<std::string> texts);

  bool empty() const { return patterns.empty(); }
  bool match(llvm::StringRef name) const;
  /// The first pattern that matches none of the names, or nothing.
  std::string findIdle(llvm::ArrayRef<llvm::StringRef> names) const;

private:
  std::vector<std::pair<std::string, llvm::GlobPattern>> patterns;
};

} // namespace mlir::par

#endif // PAR_SUPPORT_NAMEPATTERNS_H
