#include "core/Progress.h"

#include "core/Topology.h"
#include "par/config/Message.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace par::rt {

bool ProgressBoard::waits(int rank) const {
  return board[rank].collective.load() != -1 || board[rank].message.load() != -1;
}

/// Who waits may have more actions behind it than who it waits for: programs of stages differ.
bool ProgressBoard::isFurther(int rank, int than) const {
  auto key = [&](int one) {
    return std::make_tuple(board[one].step.load(), waits(one), board[one].actions.load());
  };
  return key(than) < key(rank);
}

/// Of some ranks, without `rank` itself, the one that is least far; -1: there is none.
int ProgressBoard::holdingUp(const std::vector<int> &ranks, int rank) const {
  int least = -1;
  for (int one : ranks)
    if (one != rank && (least < 0 || isFurther(least, one)))
      least = one;
  return least;
}

/// Whether `one` is where `rank` waits for it, with `members`, or was there before. What other processes tell
/// of their ranks is older than what they do: a rank that is said to wait in a step that others have behind
/// them does not wait for them, but they wait for it.
bool ProgressBoard::hasCome(int one, int rank, const std::vector<int> &members) const {
  int64_t step = board[one].step, here = board[rank].step;
  int32_t collective = board[one].collective;
  if (step != here || collective < 0)
    return step == here ? collective == -2 : step > here;
  return board[rank].collective >= 0 &&
         groupOf(manifest, one, manifest.programOf(one).collectives[size_t(collective)].members) == members;
}

int ProgressBoard::waitsFor(int rank) const {
  const Program &program = manifest.programOf(rank);
  if (int32_t message = board[rank].message; message >= 0)
    return neighbourOf(manifest, rank, program.messages[size_t(message)].stage);
  int32_t collective = board[rank].collective;
  if (collective == -1)
    return -1;
  std::vector<int> members, missing;
  if (collective >= 0)
    members = groupOf(manifest, rank, program.collectives[size_t(collective)].members);
  else
    for (int one = 0; one < size(); ++one)
      members.push_back(one);
  for (int one : members)
    if (!hasCome(one, rank, members))
      missing.push_back(one);
  return holdingUp(missing, rank);
}

int ProgressBoard::awaitedBy(int rank) const {
  std::vector<int> chain = {rank};
  while (true) {
    int next = waitsFor(chain.back());
    if (next < 0)
      return chain.back();
    auto known = std::find(chain.begin(), chain.end(), next);
    if (known != chain.end())
      return holdingUp({known, chain.end()}, -1);
    chain.push_back(next);
  }
}

static const char *nameOf(Preparation what) {
  static const char *const names[] = {"",
                                      ", while it loaded its program",
                                      ", while it prepared its memory",
                                      ", while it connected to the others",
                                      ", while it planned its attention",
                                      ", while it measured its products",
                                      ", while it wrote its first values",
                                      ", while it read the checkpoint"};
  static_assert(std::size(names) == preparationCount);
  return names[size_t(what)];
}

std::string ProgressBoard::place(int rank) const {
  const RankProgress &progress = board[rank];
  int32_t number = progress.action;
  int64_t step = progress.step;
  if (isBeforeSteps(rank))
    return std::string("before ") + unit + " " + std::to_string(step + 1) + nameOf(progress.preparation);
  std::string text = unit + (" " + std::to_string(step));
  if (number < 0)
    return text + ", between actions";
  const Action &action = manifest.programOf(rank).actions[size_t(number)];
  text += ", action " + std::to_string(number) + " \"" + config::shortened(action.name) + "\" (chunk " +
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
    } else if (collective == -2 && isBeforeSteps(rank)) {
      text += ", waits for the others";
    } else if (collective == -2) {
      text += std::string(", has done the ") + unit + " and waits for the others";
    }
    text += rank == culprit ? "  <- behind\n" : "\n";
  }
  return text;
}

} // namespace par::rt
