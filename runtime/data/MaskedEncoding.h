/// Conversations to tokens of which only those of answers are targets.
#ifndef PAR_DATA_MASKEDENCODING_H
#define PAR_DATA_MASKEDENCODING_H

#include "data/Conversations.h"
#include "text/Encoder.h"

namespace par::data {

/// The ids are those of the whole text. An answer begins with the first token that the text before it does
/// not have. Tokens that are no targets have io::maskedBit.
io::Status encodeMasked(text::Encoder &encoder, const Conversation &conversation, std::vector<uint32_t> &ids);

} // namespace par::data
#endif
