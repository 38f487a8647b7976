#ifndef PAR_FLAGS_SPELLING_H
#define PAR_FLAGS_SPELLING_H

#include <string>
#include <vector>

namespace par::flags {

/// The known word that a misspelt one was most likely meant to be, or nothing.
std::string closest(const std::string &word, const std::vector<std::string> &known);

} // namespace par::flags
#endif
