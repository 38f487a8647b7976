#include "core/Error.h"
#include "core/Launchers.h"
#include "par/config/Message.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace par::rt {

std::string firstHost(const std::string &list, bool &isOnly) {
  std::string name;
  isOnly = true;
  size_t at = 0;
  for (; at < list.size() && list[at] != ','; ++at) {
    if (list[at] != '[') {
      name += list[at];
      continue;
    }
    // Of "[07-09,12]" the first is 07, and what stands behind the bracket belongs to each of them.
    size_t close = std::min(list.find(']', at), list.size());
    std::string inside = list.substr(at + 1, close - at - 1),
                first = inside.substr(0, inside.find_first_of(",-"));
    isOnly &= first.size() == inside.size();
    name += first;
    at = close;
  }
  isOnly &= at >= list.size();
  return name;
}

bool isHostList(const std::string &list) {
  bool isInside = false; // of brackets
  char before = ',';
  for (char letter : list + ",") {
    bool isOfName = std::isalnum(static_cast<unsigned char>(letter)) || letter == '-' || letter == '.' ||
                    letter == '_' || letter == ',';
    bool nothingYet = before == ',' || before == '[';
    bool isEnd = letter == ',' || letter == ']', isRange = isInside && letter == '-';
    if (letter == '[' ? isInside : letter == ']' ? !isInside : !isOfName)
      return false;
    if (((isEnd || isRange) && nothingYet) || (isInside && isEnd && before == '-'))
      return false;
    isInside = letter == '[' || (isInside && letter != ']');
    before = letter;
  }
  return !isInside;
}

/// The same for all processes of a job, and below the ports that systems give away.
static int portOf(const std::string &job) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (char letter : job)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return 20000 + int(hash % 10000);
}

/// The first of the variables that is set, or null.
static const char *firstSet(std::initializer_list<const char *> names) {
  auto set = std::find_if(names.begin(), names.end(), variable);
  return set == names.end() ? nullptr : *set;
}

static std::string valueOf(const char *name) { return name ? variable(name) : ""; }

/// The variable with the machines of the step, or null. Throws Error where it holds no list.
static const char *findNodes() {
  const char *name = firstSet({"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"});
  if (name && !isHostList(variable(name)))
    throw Error(std::string("the launcher's variable ") + name + "=" + config::shortened(variable(name)) +
                " is no list of machines as Slurm writes them, node[1-3],other; let srun set it, or name the "
                "machine of rank 0 in MASTER_ADDR and a port in MASTER_PORT");
  return name;
}

/// Rank 0 is on the first machine of its step. Where that is the only one, nobody outside needs to reach it.
static void meetInStep(Launch &launch) {
  std::string job = valueOf(firstSet({"SLURM_JOB_ID", "SLURM_JOBID"})),
              step = valueOf(firstSet({"SLURM_STEP_ID", "SLURM_STEPID"}));
  bool isOnly = false;
  std::string host = firstHost(valueOf(findNodes()), isOnly);
  if (host.empty() || job.empty())
    return;
  launch.address = isOnly ? "127.0.0.1" : host;
  launch.port = portOf(job + "." + step);
  launch.lacksSecret = !isOnly && launch.secretFile.empty();
}

Launch meetWithoutMpi(Launch launch) {
  if (!launch.address.empty() || launch.size < 1)
    return launch;
  bool isOnOneMachine = launch.kind == LauncherKind::mpirun && variable("OMPI_COMM_WORLD_LOCAL_SIZE") &&
                        std::to_string(launch.size) == variable("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (launch.isOfStep) {
    meetInStep(launch);
  } else if (isOnOneMachine && variable("PMIX_NAMESPACE")) {
    launch.address = "127.0.0.1";
    launch.port = portOf(variable("PMIX_NAMESPACE"));
  }
  return launch;
}

} // namespace par::rt
