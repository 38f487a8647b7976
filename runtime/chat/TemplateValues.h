/// What values of a template mean: Python's rules, for the kinds of values that conversations have. What
/// Python would refuse, or par does not do as Python does, throws TemplateError.
#ifndef PAR_CHAT_TEMPLATEVALUES_H
#define PAR_CHAT_TEMPLATEVALUES_H

#include "chat/TemplateLexer.h"
#include "chat/TemplateSyntax.h"

namespace par::chat {

inline Json undefined() { return Json(Json::value_t::discarded); }
inline bool isUndefined(const Json &value) { return value.is_discarded(); }

/// The text, unless it is longer than any conversation: templates can double one again and again.
std::string limited(std::string text, int line);
/// The same for a list or object, of all that it holds.
Json limitedList(Json value, int line);

bool isTrue(const Json &value);
/// As it is written: True, None, a text as it is, lists and objects as Python writes them.
std::string toText(const Json &value, int line);
/// Both sides are evaluated.
Json combine(const std::string &sign, const Json &left, const Json &right, int line);
/// object[index]; undefined where there is no such item.
Json itemOf(const Json &object, const Json &index, int line);
/// object.name; the same, but what Python's values have beside their items comes before these.
Json memberOf(const Json &object, const std::string &name, int line);
/// object[begin:end:step]; null where a bound is left out.
Json sliceOf(const Json &object, const Json &begin, const Json &end, const Json &step, int line);

/// Unicode's characters of a text, and the same as a list of texts.
std::vector<std::string> charactersOf(const std::string &text);
/// What Python's strip() leaves. `sides`: 1 left, 2 right, 3 both; `letters`: what is taken away, empty:
/// Unicode's white space.
std::string strip(const std::string &text, int sides, const std::string &letters = "");

} // namespace par::chat
#endif
