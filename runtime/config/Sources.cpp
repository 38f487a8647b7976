#include "par/config/Sources.h"

#include <cctype>
#include <map>

namespace par::config {

/// By flag. A process has one command line.
static std::map<std::string, std::string> &sources() {
  static std::map<std::string, std::string> places;
  return places;
}

void noteSource(const std::string &flag, const std::string &place) { sources()[flag] = place; }

static bool isPartOfName(char letter) { return isalnum(static_cast<unsigned char>(letter)) || letter == '-'; }

/// Not as a part of a longer flag.
static bool names(const std::string &message, const std::string &flag) {
  for (size_t at = 0; (at = message.find(flag, at)) != std::string::npos; ++at) {
    size_t end = at + flag.size();
    bool begins = at == 0 || !isPartOfName(message[at - 1]);
    if (begins && (end == message.size() || !isPartOfName(message[end])))
      return true;
  }
  return false;
}

std::string nameSources(const std::string &message) {
  std::string text = message;
  for (const auto &[flag, place] : sources())
    if (names(message, flag) && message.find(place) == std::string::npos)
      text += " (" + flag + " is from " + place + ")";
  return text;
}

} // namespace par::config
