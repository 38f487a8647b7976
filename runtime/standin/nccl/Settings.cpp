#include "standin/nccl/Settings.h"

#include "standin/nccl/Driver.h"

#include <cstdio>
#include <cstdlib>

namespace par::standin {

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static NcclFault readFault(const std::string &text) {
  char kind[8] = "";
  unsigned long long number = 0;
  int gpu = 0, used = 0;
  if (text.empty())
    return {};
  bool read = std::sscanf(text.c_str(), "%7[a-z]@%llu:%d%n", kind, &number, &gpu, &used) == 3 &&
              size_t(used) == text.size();
  std::string name = kind;
  NcclFault fault{name == "error"   ? NcclFault::error
                  : name == "stall" ? NcclFault::stall
                  : name == "init"  ? NcclFault::init
                  : name == "split" ? NcclFault::split
                                    : NcclFault::none,
                  number, gpu};
  if (read && fault.kind != NcclFault::none)
    return fault;
  reportNccl("PAR_STANDIN_NCCL_FAULT is \"" + text +
             "\", expected error@N:GPU, stall@N:GPU, init@N:GPU or split@N:GPU");
  return {};
}

NcclSettings NcclSettings::fromEnvironment() {
  NcclSettings settings;
  if (std::string text = variable("PAR_STANDIN_NCCL"); !text.empty())
    settings.version = std::atoi(text.c_str());
  settings.fault = readFault(variable("PAR_STANDIN_NCCL_FAULT"));
  return settings;
}

uint64_t NcclCounter::next(int gpu) {
  uint64_t now = ofDriver<decltype(par_standin_generation)>("par_standin_generation")();
  if (generation != now)
    counts.clear();
  generation = now;
  return ++counts[gpu];
}

} // namespace par::standin
