/// Conversations to tokens of which only those of answers are targets.
#ifndef PAR_DATA_MASKEDENCODING_H
#define PAR_DATA_MASKEDENCODING_H

#include "data/Conversations.h"
#include "text/Encoder.h"

namespace par::data {

struct MaskedIds {
  std::vector<uint32_t> ids;   ///< those that are no targets have io::maskedBit
  std::vector<size_t> answers; ///< of every answer that has tokens one past its last
};

/// The ids are those of the whole text. Targets are all tokens that have a byte of an answer, as in the masks
/// of Hugging Face's apply_chat_template.
io::Status encodeMasked(text::Encoder &encoder, const text::Tokenizer &tokenizer,
                        const Conversation &conversation, MaskedIds &masked);

} // namespace par::data
#endif
