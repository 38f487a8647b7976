//===- JsonScanner.cpp - what a JSON parser does not say ------------------------------------------------===//
#include "par/Support/JsonScanner.h"

using namespace mlir::par;
using llvm::StringRef;

bool JsonScanner::run(unsigned maxDepth) {
  while (at < text.size()) {
    char c = text[at];
    if (c == '"') {
      scanString();
      continue;
    }
    if (c == '{' || c == '[') {
      objects.emplace_back();
      if (objects.size() > maxDepth)
        return false;
    } else if ((c == '}' || c == ']') && !objects.empty()) {
      objects.pop_back();
    }
    advance();
  }
  return true;
}

void JsonScanner::advance() {
  if (text[at] == '\n') {
    ++line;
    column = 0;
  }
  ++at;
  ++column;
}

void JsonScanner::scanString() {
  Place place(line, column);
  advance();
  size_t begin = at;
  while (at < text.size() && text[at] != '"') {
    if (text[at] == '\\')
      advance();
    if (at < text.size())
      advance();
  }
  StringRef content = text.slice(begin, at);
  if (at < text.size())
    advance();
  if (!objects.empty() && text.substr(at).ltrim().starts_with(":"))
    addKey(content, place);
}

void JsonScanner::addKey(StringRef key, Place place) {
  auto [known, isNew] = objects.back().try_emplace(key, place);
  if (!isNew && !doubled) {
    doubled = place;
    doubledKey = key.str();
    firstLine = known->second.first;
  }
  if (objects.size() == 1)
    topLevel[key] = place;
}
