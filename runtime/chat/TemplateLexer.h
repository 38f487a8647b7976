/// The words of a chat template: a text in Jinja's language, cut up as Hugging Face does (trim_blocks and
/// lstrip_blocks are on, the newline at the end is dropped).
#ifndef PAR_CHAT_TEMPLATELEXER_H
#define PAR_CHAT_TEMPLATELEXER_H

#include <stdexcept>
#include <string>
#include <vector>

namespace par::chat {

/// What is wrong with a template, or with what it is to write; the text has the line already.
struct TemplateError : std::runtime_error {
  TemplateError(int line, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

struct Word {
  /// plain: between tags, as it is written. openPrint, openBlock: {{ and {%. close: }} or %}, as `text` says.
  /// end: of the template.
  enum Kind { plain, openPrint, openBlock, close, name, string, integer, sign, end } kind = end;
  std::string text; ///< of a string what it means
  int line = 1;
};

/// Throws TemplateError. The last word is the end.
std::vector<Word> cutTemplate(const std::string &source);

} // namespace par::chat
#endif
