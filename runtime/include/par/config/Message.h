/// What files, flags and templates say, in messages: a terminal obeys it nowhere, and it fills no screen.
/// Text that a user asks for (an answer, decoded tokens) is no message.
#ifndef PAR_CONFIG_MESSAGE_H
#define PAR_CONFIG_MESSAGE_H

#include <string>
#include <string_view>

namespace par::config {

/// One line that a terminal only shows: control characters, marks that turn the direction of text, and what
/// is no UTF-8 become \n, \x1b, \u202e, \xff.
std::string visible(std::string_view text);

/// Where a text has the first character that `visible` would change, but for ends of lines and tabs; npos
/// where it has none.
size_t findHidden(std::string_view text);

/// A value of at most 80 characters, or the first 80 and how long it is.
std::string shortened(std::string_view value);

/// A message as it is printed: visible, what it quotes shortened. Every tool prints its errors, warnings and
/// notes through this.
std::string asMessage(std::string_view text);

/// "note: " and the message.
std::string noteLine(std::string_view text);

/// "error: ", the message, and which flags that it names are from a file.
std::string errorLine(std::string_view text);

} // namespace par::config
#endif
