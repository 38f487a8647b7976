#ifndef PAR_CHAT_TEMPLATEEVALUATOR_H
#define PAR_CHAT_TEMPLATEEVALUATOR_H

#include "chat/TemplateSyntax.h"

namespace par::chat {

struct Span {
  size_t begin, end;
};

/// What a template writes.
struct Written {
  std::string text;
  std::vector<Span> answers; ///< of it what stands in {% generation %}
  bool hidesAnswers = false; ///< one was written where its place is unknown: by a macro or a {% set %}
};

/// Given its variables (an object). Throws TemplateError.
Written evaluate(const Block &block, const Json &variables);

} // namespace par::chat
#endif
