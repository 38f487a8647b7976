/// How `--help` shows flags, in every tool.
#ifndef PAR_CONFIG_HELPTEXT_H
#define PAR_CONFIG_HELPTEXT_H

#include <cstddef>
#include <string>

namespace par::config {

/// Columns of the terminal that standard output is, at most 120, or 0: it is none.
size_t helpColumns();

/// The text in lines of so many columns, in one where that is 0.
std::string helpParagraph(const std::string &text, size_t columns);

/// What is given on the left, what it means on the right: in one line, for grep, where `columns` is 0, else
/// in as many lines as that takes.
std::string helpEntry(const std::string &head, const std::string &help, size_t columns);

} // namespace par::config
#endif
