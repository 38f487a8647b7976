#include "par/config/Spelling.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace par::config {

std::string plainName(const std::string &spelling) {
  std::string name = spelling.substr(std::min(spelling.find_first_not_of('-'), spelling.size()));
  if (size_t dot = name.rfind('.'); dot != std::string::npos)
    name.erase(0, dot + 1);
  for (char &letter : name)
    letter = letter == '_' ? '-' : char(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

/// Letters to insert, remove, replace, or exchange with the next one, to make one word of the other.
static size_t countSlips(const std::string &from, const std::string &to) {
  std::vector<std::vector<size_t>> rows(from.size() + 1, std::vector<size_t>(to.size() + 1));
  for (size_t i = 0; i <= from.size(); ++i)
    for (size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      size_t replaced = rows[i - 1][j - 1] + (from[i - 1] != to[j - 1]);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows.back().back();
}

/// Another number is another thing: sm_70 is not meant to be sm_80.
static std::string digitsOf(const std::string &name) {
  std::string digits;
  for (char letter : name)
    if (std::isdigit(static_cast<unsigned char>(letter)))
      digits += letter;
  return digits;
}

/// Whether the known name has further words.
static bool isBeginning(const std::string &name, const std::string &known) {
  return name.size() > 2 && known.compare(0, name.size() + 1, name + "-") == 0;
}

static constexpr size_t tooFar = 3;

/// 0 to 2, or too far. Of a short word everything is near: --gpus is not --eps, nor --tp --to.
static size_t measure(const std::string &name, const std::string &known) {
  size_t letters = std::max(name.size(), known.size());
  if (name == known)
    return 0;
  if (name.size() < 3 || digitsOf(name) != digitsOf(known))
    return tooFar;
  if (isBeginning(name, known))
    return 2;
  if (letters - std::min(name.size(), known.size()) >= tooFar)
    return tooFar;
  size_t slips = countSlips(name, known);
  return slips <= (letters + 1) / 4 ? slips : tooFar;
}

std::string closest(const std::string &word, const std::vector<std::string> &known) {
  std::string name = plainName(word), best;
  size_t least = tooFar;
  for (const std::string &candidate : known)
    if (size_t distance = measure(name, plainName(candidate)); distance < least)
      least = distance, best = candidate;
  return best;
}

/// Letters and digits alone: "interleaved1f1b" of "Interleaved1F1B" and of "interleaved-1f1b".
static std::string plainWord(const std::string &text) {
  std::string word;
  for (char letter : plainName(text))
    if (std::isalnum(static_cast<unsigned char>(letter)))
      word += letter;
  return word;
}

/// Plain words of others, and what par calls that, the nearest first.
static const std::pair<const char *, std::vector<std::string>> foreignWords[] = {
    {"bfloat16", {"bf16"}},
    {"float32", {"f32"}},
    {"fp32", {"f32"}},
    {"float", {"f32"}},
    {"float16", {"f16", "bf16"}},
    {"fp16", {"f16", "bf16"}},
    {"half", {"f16", "bf16"}},
    {"adam", {"adamw"}},
    {"adamwtorch", {"adamw"}},
    {"adamwtorchfused", {"adamw"}},
    {"interleaved", {"interleaved-1f1b"}},
    {"zbvzerobubble", {"zb-v"}},
    {"gpu", {"cuda"}},
    {"a100", {"sm_80"}},
    {"h100", {"sm_90"}},
    {"h200", {"sm_90"}},
};

static std::string findWord(const std::string &text, const std::vector<std::string> &words) {
  std::string plain = plainWord(text);
  for (const std::string &word : words)
    if (plainWord(word) == plain)
      return word;
  for (const auto &[foreign, names] : foreignWords)
    for (const std::string &name : names)
      if (plain == foreign && std::find(words.begin(), words.end(), name) != words.end())
        return name;
  return closest(text, words);
}

std::string suggestWord(const std::string &text, const std::vector<std::string> &words) {
  std::string word = findWord(text, words);
  return word.empty() ? "" : "; did you mean " + word + "?";
}

} // namespace par::config
