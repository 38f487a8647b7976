#include "cpu/Levels.h"

#include <atomic>

namespace par::cpu {

const char *nameOf(Level level) {
  return level == Level::v4 ? "x86-64-v4" : level == Level::v3 ? "x86-64-v3" : "x86-64-v2";
}

Level supportedLevel() {
#ifdef PAR_SANITIZE // one version is instrumented
  return Level::base;
#else
  return __builtin_cpu_supports("x86-64-v4")   ? Level::v4
         : __builtin_cpu_supports("x86-64-v3") ? Level::v3
                                               : Level::base;
#endif
}

static std::atomic<Level> &used() {
  static std::atomic<Level> level{supportedLevel()};
  return level;
}

void useLevel(Level level) { used() = level; }
Level usedLevel() { return used().load(std::memory_order_relaxed); }

} // namespace par::cpu
