/// The word that one which is not known was most likely meant to be.
#ifndef PAR_CONFIG_SPELLING_H
#define PAR_CONFIG_SPELLING_H

#include <string>
#include <vector>

namespace par::config {

/// A flag's name without dashes, without a table before it, with dashes within: "seq-len" of
/// "--training.seq_len".
std::string plainName(const std::string &spelling);

/// The known flag, or word, of that plain name, else one that is a slip of the hand away, or that goes on
/// where the name ends ("--memory" of "--memory-limit"); else nothing.
std::string closest(const std::string &word, const std::vector<std::string> &known);

/// "; did you mean bf16?" of "bfloat16": what a value that is none of the words is called elsewhere, or a
/// near miss; else nothing.
std::string suggestWord(const std::string &text, const std::vector<std::string> &words);

} // namespace par::config
#endif
