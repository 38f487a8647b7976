/// The test hook PAR_TEST_FAULT (docs/Running.md): a rank that fails, stalls or dies on purpose.
#ifndef PAR_CORE_FAULT_H
#define PAR_CORE_FAULT_H

#include <cstdint>
#include <string>

namespace par::rt {

struct Fault {
  enum class Kind { none, fail, stall, kill } kind = Kind::none;
  int64_t rank = 0, step = 1, action = 0;

  bool hits(int64_t atRank, int64_t atStep, int64_t atAction) const {
    return kind != Kind::none && rank == atRank && step == atStep && action == atAction;
  }
};

/// "fail:rank=1,step=2,action=3", "stall:…" or "kill:…"; empty = none. Throws Error.
Fault parseFault(const std::string &text);

} // namespace par::rt
#endif
