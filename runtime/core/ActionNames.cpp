#include "core/ActionNames.h"

#include <algorithm>
#include <set>

namespace par::rt {

/// Of messages, small letters begin and capital ones wait.
static const std::map<std::string, std::string> letters = {{"gather", "G"},
                                                           {"forward", "F"},
                                                           {"backward", "B"},
                                                           {"backward_input", "B"},
                                                           {"backward_weight", "W"},
                                                           {"backward_last", "BR"},
                                                           {"backward_weight_last", "WR"},
                                                           {"reduce", "R"},
                                                           {"norm", "N"},
                                                           {"update", "U"},
                                                           {"eval", "E"},
                                                           {"logits", "L"},
                                                           {"send_activation", "sF"},
                                                           {"sent_activation", "SF"},
                                                           {"receive_activation", "rF"},
                                                           {"received_activation", "RF"},
                                                           {"send_gradient", "sB"},
                                                           {"sent_gradient", "SB"},
                                                           {"receive_gradient", "rB"},
                                                           {"received_gradient", "RB"},
                                                           {"sum_gradients", "S"},
                                                           {"sum_squares", "Q"}};

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
