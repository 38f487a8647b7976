/// JSON of conversations, which are files of others.
#ifndef PAR_CHAT_CONVERSATIONJSON_H
#define PAR_CHAT_CONVERSATIONJSON_H

#include "chat/TemplateSyntax.h"
#include "par/io/Status.h"

#include <string_view>

namespace par::chat {

/// Discarded where the text is no JSON. Fails where it nests deeper than any conversation: what copies and
/// writes it recurses.
io::Status readJson(std::string_view text, Json &json);
/// The same of what has to be an object; says where in the text and why it is none.
io::Status readJsonObject(std::string_view text, Json &json);

} // namespace par::chat
#endif
