#include "core/Fault.h"

#include "core/Error.h"

#include <cstdio>

namespace par::rt {

Fault parseFault(const std::string &text) {
  Fault fault;
  if (text.empty())
    return fault;
  char kind[8] = "";
  long long rank, step, action;
  int used = 0;
  int read = std::sscanf(text.c_str(), "%7[a-z]:rank=%lld,step=%lld,action=%lld%n", kind, &rank, &step,
                         &action, &used);
  std::string name = kind;
  Fault::Kind which = name == "fail"    ? Fault::Kind::fail
                      : name == "stall" ? Fault::Kind::stall
                      : name == "kill"  ? Fault::Kind::kill
                                        : Fault::Kind::none;
  if (read != 4 || size_t(used) != text.size() || which == Fault::Kind::none)
    throw Error("PAR_TEST_FAULT: \"" + text +
                "\" is not of the form fail:rank=1,step=2,action=3, stall:... or kill:...");
  return {which, rank, step, action};
}

} // namespace par::rt
