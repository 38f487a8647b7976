/// What Python's own values do by themselves where a template only mentions them.
#ifndef PAR_CHAT_TEMPLATEPYTHON_H
#define PAR_CHAT_TEMPLATEPYTHON_H

#include "chat/TemplateSyntax.h"

#include <string>

namespace par::chat {

/// Whether the value has something of that name beside its items: the methods of texts, lists, objects and
/// numbers, and all that begins with an underscore.
bool hasAttribute(const Json &value, const std::string &name);

/// As Python writes lists, objects and what is in them: ['a', True, {'b': None}]. Throws TemplateError for
/// letters of which Python may know more.
std::string represent(const Json &value, int line);
/// The shortest number that is read as the same: 0.5, 1.0, 1e-05. Throws TemplateError beyond 64 bits, where
/// it may be a whole number, of which Python has all digits.
std::string representNumber(double value, int line);

/// str.title(), str.capitalize(), and the filter title, for which words begin behind blanks, - and opening
/// brackets only. Throw TemplateError for letters beyond ASCII.
std::string toTitle(const std::string &text, int line);
std::string capitalize(const std::string &text, int line);
std::string toTitleByWords(const std::string &text, int line);

} // namespace par::chat
#endif
