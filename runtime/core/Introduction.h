/// What every process tells the others before the first step, and whether they can run together.
#ifndef PAR_CORE_INTRODUCTION_H
#define PAR_CORE_INTRODUCTION_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace par::rt {

struct Introduction {
  std::string problem; ///< why it cannot run, or empty
  std::string fingerprint, machine, cores;
  int64_t pid = 0, memory = 0;
  int worldSize = 0;
  std::vector<std::string> agreed; ///< Agreement.h
  std::vector<std::string> gpus;   ///< ids of those it sees, if its package needs them

  /// Of this process, which has read nothing yet.
  static Introduction own();
  std::string text() const;
};

/// False unless the bytes are one that `text` could have written.
bool readIntroduction(std::string_view bytes, Introduction &introduction);

/// Ranks of this machine, and those of them that share this process's cores.
struct Neighbours {
  int onMachine = 0, onCores = 0;
};
Neighbours neighbours(const std::vector<Introduction> &all, const Introduction &own);

/// "rank 2 on node1"
std::string nameOf(const std::vector<Introduction> &all, size_t rank);

/// Why so many processes cannot be the ranks of a package, or nothing. `by` is how they were started.
std::string sizeProblem(const std::string &package, int ranks, int processes, const std::string &by);

/// Why processes whose ranks are numbered like this cannot run together, as far as they say it themselves; or
/// nothing. `by` is how they were started.
std::string conflict(const std::vector<Introduction> &all, const std::string &package, const std::string &by);

} // namespace par::rt
#endif
