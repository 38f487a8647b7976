/// Where every rank is: written by the rank, read by whoever reports a failure.
#ifndef PAR_CORE_PROGRESS_H
#define PAR_CORE_PROGRESS_H

#include "core/Manifest.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace par::rt {

/// What a rank does before its first step.
enum class Preparation : int32_t { none, program, memory, groups, attention, products, values, checkpoint };
constexpr int32_t preparationCount = int32_t(Preparation::checkpoint) + 1;

struct alignas(64) RankProgress {
  std::atomic<int64_t> step{0};        ///< from 1; 0 before the first
  std::atomic<int64_t> actions{0};     ///< entered since the start
  std::atomic<int32_t> action{-1};     ///< current one, -1 between steps
  std::atomic<int32_t> collective{-1}; ///< current one, -1 outside; -2 = waits for all others
  std::atomic<int32_t> message{-1};    ///< that it waits for, -1 outside
  std::atomic<Preparation> preparation{Preparation::none};
  std::atomic<uint64_t> beats{0}; ///< changes whenever the rank calls the runtime
  std::atomic<bool> done{false};  ///< it has nothing left to do, and is not watched any more

  void beat() { beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void prepare(Preparation what) {
    preparation = what;
    beat();
  }
};

/// While it lives, a rank waits for all others outside of an action: it is silent and may be.
class WaitForAll {
public:
  explicit WaitForAll(RankProgress &progress) : progress(progress) { set(-2); }
  ~WaitForAll() { set(-1); }
  WaitForAll(const WaitForAll &) = delete;
  WaitForAll &operator=(const WaitForAll &) = delete;

private:
  void set(int32_t collective) {
    progress.collective = collective;
    progress.beat();
  }
  RankProgress &progress;
};

class ProgressBoard {
public:
  /// `only` >= 0: this process has that rank alone and knows of no other. `unit`: what steps are called.
  explicit ProgressBoard(const Manifest &manifest, int only = -1, const char *unit = "step")
      : manifest(manifest), only(only), unit(unit), board(new RankProgress[size_t(manifest.worldSize)]) {}
  int size() const { return manifest.worldSize; }
  RankProgress &operator[](int rank) { return board[rank]; }

  /// The end of the chain of who waits for whom from `rank` on: one that waits for nobody. Where ranks wait
  /// for each other in a circle, the one of them that has done the least.
  int awaitedBy(int rank) const;
  /// "step 2, action 3 \"backward\" (chunk 0, micro-batch 1)"
  std::string place(int rank) const;
  /// "in step 2, ...", "before step 1, while it measured its products"
  std::string whereabouts(int rank) const { return (isBeforeSteps(rank) ? "" : "in ") + place(rank); }
  /// Which of the ranks that this one waits for holds it up; -1: it waits for none.
  int waitsFor(int rank) const;
  /// One line per rank that is known: where it is and whether it waits; `culprit` is marked.
  std::string report(int culprit) const;

private:
  bool isBeforeSteps(int rank) const {
    return board[rank].step == 0 || board[rank].preparation.load() != Preparation::none;
  }
  bool waits(int rank) const;
  bool isFurther(int rank, int than) const;
  int holdingUp(const std::vector<int> &ranks, int rank) const;
  bool hasCome(int one, int rank, const std::vector<int> &members) const;

  const Manifest &manifest;
  const int only;
  const char *const unit;
  std::unique_ptr<RankProgress[]> board;
};

} // namespace par::rt
#endif
