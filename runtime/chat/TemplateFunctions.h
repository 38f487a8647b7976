/// Filters, tests, methods and functions of templates, by Jinja's and Python's names.
#ifndef PAR_CHAT_TEMPLATEFUNCTIONS_H
#define PAR_CHAT_TEMPLATEFUNCTIONS_H

#include "chat/TemplateValues.h"

namespace par::chat {

struct Arguments {
  std::vector<Json> given;
  Json named = Json::object();
  int line = 1;

  /// The argument of that place or name, or `otherwise`.
  Json get(size_t place, const char *name, Json otherwise) const;
  std::string text(size_t place, const char *name) const;
};

/// A template that says itself why it does not write a conversation.
struct TemplateRefusal : TemplateError {
  using TemplateError::TemplateError;
};

Json applyFilter(const std::string &name, const Json &value, const Arguments &arguments);
/// `value is name`.
bool applyTest(const std::string &name, const Json &value, int line);
Json callMethod(const Json &object, const std::string &name, const Arguments &arguments);
/// Whether a name that no variable has is a function.
bool isFunction(const std::string &name);
Json callFunction(const std::string &name, const Arguments &arguments);

} // namespace par::chat
#endif
