/// Turns of a conversation as flags or special tokens say them.
#ifndef PAR_CHAT_TURNFORMAT_H
#define PAR_CHAT_TURNFORMAT_H

#include "par/io/Status.h"
#include "text/Tokenizer.h"

#include <map>
#include <string>

namespace par::chat {

/// How turns become text: "<|im_start|>{role}\n{content}<|im_end|>\n".
class TurnFormat {
public:
  /// What stands around a content.
  struct Frame {
    std::string before, behind;
  };

  /// "ROLE=TEMPLATE", * for all roles without one of their own. Returns what is wrong with it, or nothing.
  std::string add(const std::string &turn);
  bool empty() const { return templates.empty(); }
  /// The format that a tokenizer's special tokens are of: ChatML's or Llama 3's. Nothing where they are
  /// neither.
  static TurnFormat of(const text::Tokenizer &tokenizer);

  /// Fails without a template for the role.
  io::Status frameOf(const std::string &role, Frame &frame) const;

private:
  std::map<std::string, std::string> templates; ///< by role
};

} // namespace par::chat
#endif
