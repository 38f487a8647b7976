//===- NamePatterns.cpp - sets of names by patterns -----------------------------------------------------===//
#include "par/Support/NamePatterns.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::par;

llvm::Expected<NamePatterns> NamePatterns::parse(llvm::ArrayRef<std::string> texts) {
  NamePatterns parsed;
  for (const std::string &text : texts) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (text.empty() || !pattern)
      return makeError("'" + text + "' is no pattern of names: " +
                       (pattern ? std::string("it is empty") : llvm::toString(pattern.takeError())));
    parsed.patterns.emplace_back(text, std::move(*pattern));
  }
  return parsed;
}

bool NamePatterns::match(llvm::StringRef name) const {
  return llvm::any_of(patterns, [&](auto &entry) { return entry.second.match(name); });
}

std::string NamePatterns::findIdle(llvm::ArrayRef<llvm::StringRef> names) const {
  for (auto &[text, pattern] : patterns)
    if (llvm::none_of(names, [&pattern = pattern](llvm::StringRef name) { return pattern.match(name); }))
      return text;
  return "";
}
