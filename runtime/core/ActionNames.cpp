#include "core/ActionNames.h"

#include <algorithm>
#include <set>

namespace par::rt {

static const std::map<std::string, std::string> letters = {
#define PAR_ACTION(symbol, name, letters) {#name, letters},
#include "par/Actions.def"
};

static bool begins(const std::string &name, const char *with) { return name.rfind(with, 0) == 0; }

bool beginsMessage(const Action &action) {
  return begins(action.name, "send_") || begins(action.name, "receive_");
}
bool endsMessage(const Action &action) {
  return begins(action.name, "sent_") || begins(action.name, "received_");
}
bool isSum(const Action &action) { return begins(action.name, "sum_"); }

ActionNames::ActionNames(const Manifest &manifest) {
  bool areSeveral = false;
  for (const Program &program : manifest.programs) {
    std::set<int> chunks;
    for (const Action &action : program.actions)
      if (action.name == "forward")
        chunks.insert(action.chunk);
    areSeveral |= chunks.size() > 1;
    int turn = 0;
    for (int chunk : chunks) {
      turns.resize(std::max(turns.size(), size_t(chunk) + 1));
      turns[size_t(chunk)] = turn < 26 ? std::string(1, char('a' + turn)) : "." + std::to_string(turn + 1);
      ++turn;
    }
  }
  if (!areSeveral)
    turns.clear();
}

std::string ActionNames::describe(const Action &action) const {
  auto known = letters.find(action.name);
  std::string text = known == letters.end() ? action.name : known->second;
  if (isSum(action))
    return text + (action.name == "sum_gradients" ? std::to_string(action.chunk + 1) : "");
  if (action.microBatch >= 0)
    text += std::to_string(action.microBatch + 1);
  return size_t(action.chunk) < turns.size() ? text + turns[size_t(action.chunk)] : text;
}

} // namespace par::rt
