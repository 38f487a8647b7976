//===- JsonScanner.cpp - what a JSON parser does not say ------------------------------------------------===//
#include "par/Support/JsonScanner.h"
#include "llvm/Support/JSON.h"

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

/// The key as a parser reads it.
static std::string unescape(StringRef key) {
  std::optional<std::string> read;
  if (key.contains('\\')) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(("\"" + key + "\"").str());
    if (value && value->getAsString())
      read = value->getAsString()->str();
    else if (!value)
      llvm::consumeError(value.takeError());
  }
  return read ? *read : key.str();
}

void JsonScanner::addKey(StringRef written, Place place) {
  std::string key = unescape(written);
  auto [known, isNew] = objects.back().try_emplace(key, place);
  if (!isNew && !doubled) {
    doubled = place;
    doubledKey = key;
    firstLine = known->second.first;
  }
  if (objects.size() == 1)
    topLevel[key] = place;
}
