#include "core/Introduction.h"

#include "comm/process/Wire.h"
#include "core/Agreement.h"

#include <charconv>
#include <climits>
#include <sched.h>
#include <unistd.h>

namespace par::rt {

/// The cores that this process may use, as text: processes that share them have the same.
static std::string ownCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string text;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        text += std::to_string(core) + ",";
  return text;
}

static std::string ownMachine() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

Introduction Introduction::own() {
  Introduction made;
  made.machine = ownMachine(), made.cores = ownCores();
  made.pid = getpid(), made.memory = availableMemory();
  return made;
}

std::string Introduction::text() const {
  return comm::joinTexts({problem, fingerprint, machine, cores, std::to_string(pid), std::to_string(memory),
                          std::to_string(worldSize), comm::joinTexts(agreed), comm::joinTexts(gpus)});
}

template <typename T>
static bool readNumber(const std::string &text, T &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool readIntroduction(std::string_view bytes, Introduction &made) {
  std::vector<std::string> texts;
  if (!comm::splitTexts(bytes, texts) || texts.size() != 9)
    return false;
  made.problem = texts[0], made.fingerprint = texts[1], made.machine = texts[2], made.cores = texts[3];
  return readNumber(texts[4], made.pid) && readNumber(texts[5], made.memory) &&
         readNumber(texts[6], made.worldSize) && comm::splitTexts(texts[7], made.agreed) &&
         comm::splitTexts(texts[8], made.gpus);
}

Neighbours neighbours(const std::vector<Introduction> &all, const Introduction &own) {
  Neighbours counts;
  for (const Introduction &one : all) {
    counts.onMachine += one.machine == own.machine;
    counts.onCores += one.machine == own.machine && one.cores == own.cores;
  }
  return counts;
}

std::string nameOf(const std::vector<Introduction> &all, size_t rank) {
  return "rank " + std::to_string(rank) + " on " + all[rank].machine;
}

std::string sizeProblem(const std::string &package, int ranks, int processes, const std::string &by) {
  if (ranks == processes)
    return "";
  return package + ": was compiled for " + std::to_string(ranks) + " ranks, but " +
         std::to_string(processes) + (processes == 1 ? " process was" : " processes were") + " started (" +
         by + "); start " + std::to_string(ranks) + ", or compile for this --mesh";
}

std::string conflict(const std::vector<Introduction> &all, const std::string &package,
                     const std::string &by) {
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].problem.empty())
      return all[rank].problem + " (" + nameOf(all, rank) + ")";
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank].fingerprint != all[0].fingerprint)
      return package + ": " + nameOf(all, rank) + " has another package than " + nameOf(all, 0) +
             ": their fingerprints are " + all[rank].fingerprint.substr(0, 12) + "... and " +
             all[0].fingerprint.substr(0, 12) + "...; copy the same DIR.par to every machine";
  if (std::string problem = sizeProblem(package, all[0].worldSize, int(all.size()), by); !problem.empty())
    return problem;
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (std::string problem =
            disagreement(all[0].agreed, all[rank].agreed, nameOf(all, 0), nameOf(all, rank));
        !problem.empty())
      return problem;
  return "";
}

} // namespace par::rt
