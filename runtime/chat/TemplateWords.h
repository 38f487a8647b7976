/// The words of a template one after the other, for what parses them.
#ifndef PAR_CHAT_TEMPLATEWORDS_H
#define PAR_CHAT_TEMPLATEWORDS_H

#include "chat/TemplateLexer.h"

#include <algorithm>

namespace par::chat {

class TemplateWords {
public:
  explicit TemplateWords(std::vector<Word> words) : words(std::move(words)) {}

protected:
  /// Recursion has an end: templates are files of others.
  struct Level {
    explicit Level(TemplateWords &words) : words(words) {
      if (++words.levels > 100)
        words.refuse("more than 100 levels of nesting");
    }
    ~Level() { --words.levels; }
    TemplateWords &words;
  };

  const Word &word(size_t ahead = 0) const { return words[std::min(at + ahead, words.size() - 1)]; }
  std::string describe() const { return word().kind == Word::end ? "the end" : word().text; }
  [[noreturn]] void refuse(const std::string &what) const { throw TemplateError(word().line, what); }
  bool isSign(const char *sign) const { return word().kind == Word::sign && word().text == sign; }
  bool isName(const char *name) const { return word().kind == Word::name && word().text == name; }
  bool takeSign(const char *sign) {
    bool is = isSign(sign);
    at += is;
    return is;
  }
  bool takeName(const char *name) {
    bool is = isName(name);
    at += is;
    return is;
  }
  void expectSign(const char *sign) {
    if (!takeSign(sign))
      refuse("'" + describe() + "' where " + sign + " is expected");
  }
  std::string expectName() {
    if (word().kind != Word::name)
      refuse("'" + describe() + "' where a name is expected");
    return words[at++].text;
  }
  void expectClose() {
    if (word().kind != Word::close)
      refuse("'" + describe() + "' where the tag should end");
    ++at;
  }

  std::vector<Word> words;
  size_t at = 0;
  int levels = 0;
};

} // namespace par::chat
#endif
