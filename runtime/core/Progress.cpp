#include "core/Progress.h"

#include "core/Topology.h"

#include <tuple>

namespace par::rt {

/// Before actions are compared: programs of stages have different numbers of them, and who waits at its first
/// may wait for one that is further.
int ProgressBoard::behind() const {
  int best = 0;
  auto key = [&](int rank) {
    const RankProgress &p = board[rank];
    bool waits = p.collective.load() != -1 || p.message.load() != -1;
    return std::make_tuple(p.step.load(), waits, p.actions.load());
  };
  for (int rank = 1; rank < size(); ++rank)
    if (key(rank) < key(best))
      best = rank;
  return best;
}

std::string ProgressBoard::place(int rank) const {
  const RankProgress &progress = board[rank];
  int32_t number = progress.action;
  int64_t step = progress.step;
  if (step == 0)
    return "before step 1";
  std::string text = "step " + std::to_string(step);
  if (number < 0)
    return text + ", between actions";
  const Action &action = manifest.programOf(rank).actions[size_t(number)];
  text += ", action " + std::to_string(number) + " \"" + action.name + "\" (chunk " +
          std::to_string(action.chunk);
  if (action.microBatch >= 0)
    text += ", micro-batch " + std::to_string(action.microBatch);
  return text + ")";
}

std::string ProgressBoard::report(int culprit) const {
  std::string text;
  for (int rank = 0; rank < size(); ++rank) {
    if (only >= 0 && rank != only)
      continue;
    int32_t collective = board[rank].collective;
    text += "rank " + std::to_string(rank) + ": " + place(rank);
    if (collective >= 0) {
      const ManifestCollective &what = manifest.programOf(rank).collectives[size_t(collective)];
      text += std::string(", waits in ") + comm::nameOf(what.what.kind) + " over " +
              nameOf(manifest, what.members);
    } else if (int32_t message = board[rank].message; message >= 0) {
      const ManifestMessage &what = manifest.programOf(rank).messages[size_t(message)];
      text += ", waits " + std::string(what.sends ? "for its " : "for the ") + what.what +
              (what.sends ? " to be received by rank " : " of rank ") +
              std::to_string(neighbourOf(manifest, rank, what.stage));
    } else if (collective == -2) {
      text += ", has done the step and waits for the others";
    }
    text += rank == culprit ? "  <- behind\n" : "\n";
  }
  return text;
}

} // namespace par::rt
