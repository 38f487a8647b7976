//===- Nesting.cpp - a bound for parsers that recurse -----------------------------------------------===//
#include "par/Support/Nesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace mlir::par;

namespace {
/// Reads tokens as MLIR's lexer does, as far as depth needs it. The parser ends at the first bracket that
/// does not fit, so up to there counting is enough.
class Scanner {
public:
  Scanner(StringRef text, unsigned limit) : text(text), limit(limit) {}

  std::optional<TextPlace> run() {
    while (at < text.size()) {
      size_t begin = at;
      scanToken();
      if (deepest > limit)
        return locate(begin);
    }
    return std::nullopt;
  }

private:
  void scanToken() {
    char c = text[at];
    StringRef rest = text.substr(at);
    if (rest.starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else if (c == '"')
      scanString();
    else if (rest.starts_with("->"))
      at += 2;
    else if (c == '!' || c == '#')
      scanAlias(c);
    else if (isAlpha(c) || c == '_')
      scanName();
    else
      scanMark(c);
  }

  void scanString() {
    if (!text.take_front(at).rtrim().ends_with("="))
      beginStatement(); // an operation's name; else the value of an alias
    for (++at; at < text.size() && text[at] != '"'; ++at)
      at += text[at] == '\\';
    at = std::min(at + 1, text.size());
  }

  StringRef takeName() {
    StringRef name =
        text.substr(at).take_while([](char c) { return isAlnum(c) || StringRef("_$.").contains(c); });
    at += name.size();
    return name;
  }

  void scanName() {
    StringRef name = takeName();
    if (name.contains('.') || name == "module")
      beginStatement();
  }

  /// What begins as an operation does is no part of an alias's definition any more.
  void beginStatement() {
    if (brackets == 0)
      defined = nullptr;
  }

  /// `!a = tuple<…>` between operations says how deep `!a` is; elsewhere it is that deep.
  void scanAlias(char kind) {
    ++at;
    std::string name = kind + takeName().str();
    if (brackets == 0 && text.substr(at).ltrim().starts_with("=")) {
      operators = 0;
      defined = &(depths[name] = 0);
    } else if (auto known = depths.find(name); known != depths.end()) {
      reach(known->second);
    }
  }

  void scanMark(char c) {
    ++at;
    if (StringRef("([{<").contains(c))
      ++brackets;
    else if (StringRef(")]}>").contains(c) && !(c == '>' && text.substr(at).starts_with("=")))
      brackets -= brackets > 0;
    else if (StringRef("+-*").contains(c))
      ++operators;
    // No expression goes on behind one of these.
    if (StringRef(",%@{}=").contains(c))
      operators = 0;
    if (c == '%')
      beginStatement();
    reach(0);
  }

  /// `more` levels below this place.
  void reach(unsigned more) {
    deepest = brackets + operators + more;
    if (defined)
      *defined = std::max(*defined, deepest);
  }

  TextPlace locate(size_t position) const {
    StringRef before = text.take_front(position);
    return {unsigned(before.count('\n') + 1), unsigned(position - (before.rfind('\n') + 1) + 1)};
  }

  StringRef text;
  unsigned limit;
  size_t at = 0;
  unsigned brackets = 0, operators = 0;
  unsigned deepest = 0; ///< of the last token
  StringMap<unsigned> depths;
  unsigned *defined = nullptr; ///< depth of the alias whose definition this is
};
} // namespace

std::optional<TextPlace> mlir::par::findDeepNesting(StringRef text, unsigned limit) {
  return Scanner(text, limit).run();
}
