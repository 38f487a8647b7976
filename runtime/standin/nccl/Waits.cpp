#include "standin/nccl/Waits.h"

#include "standin/nccl/Driver.h"
#include "standin/nccl/Processes.h"

namespace par::standin {

static std::set<const Waits *> &all() {
  static std::set<const Waits *> waits;
  return waits;
}

Waits::Waits() { all().insert(this); }
Waits::~Waits() { all().erase(this); }

int isDeadlock(int stuck) {
  if (!stuck) {
    moves();
    return 0;
  }
  std::set<int> pids;
  for (const Waits *one : all())
    one->addAwaited(pids);
  if (!standsStill(pids))
    return 0;
  std::string text;
  for (const Waits *one : all())
    text += (text.empty() ? "" : "; ") + one->text();
  reportNccl("deadlock: all processes wait for each other; this one is in " + text);
  return 1;
}

} // namespace par::standin
