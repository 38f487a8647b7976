#ifndef PAR_CHAT_TEMPLATEEVALUATOR_H
#define PAR_CHAT_TEMPLATEEVALUATOR_H

#include "chat/TemplateSyntax.h"

namespace par::chat {

/// The text that a template writes, given its variables (an object). Throws TemplateError.
std::string evaluate(const Block &block, const Json &variables);

} // namespace par::chat
#endif
