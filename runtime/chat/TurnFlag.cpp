#include "chat/TurnFlag.h"

namespace par::chat {

void addTurnFlag(flags::Flags &flags, TurnFormat &turns) {
  flags
      .custom(
          "--turn", "ROLE=TEMPLATE",
          "how a turn is written: a text with {content}, and perhaps {role}; again for other roles, * for "
          "all others (default: as the model's chat template says; without one ChatML or Llama 3, as the "
          "tokenizer's special tokens suggest)",
          [&turns](const std::string &text) { return turns.add(flags::unescape(text)); })
      .repeated()
      .takes(config::Takes::text);
}

} // namespace par::chat
