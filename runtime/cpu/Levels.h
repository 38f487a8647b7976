/// Processor levels that loops in vectors are compiled for (cpu/Lanes.h): x86-64-v2, v3 and v4.
#ifndef PAR_CPU_LEVELS_H
#define PAR_CPU_LEVELS_H

namespace par::cpu {

enum class Level { base, v3, v4 };
const char *nameOf(Level level);

/// The highest that this processor has.
Level supportedLevel();

/// From now on, at most `supportedLevel()`: for tests, before whose kernels run on other threads.
void useLevel(Level level);
Level usedLevel();

} // namespace par::cpu
#endif
