#include "cpu/Units.h"

#include <atomic>
#include <cpuid.h>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace par::cpu {

/// The bits of XCR0: what state of registers the operating system saves; 0 when it does not use XSAVE.
static uint64_t savedState() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
    return 0;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

// Intel's Software Developer's Manual, volume 2A, CPUID leaf 7, and volume 1, section 13.
static bool hasDot() {
  unsigned a, b, c, d;
  constexpr uint64_t vectors = 0xE6;
  return __builtin_cpu_supports("x86-64-v4") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
         (a & bit_AVX512BF16) && (savedState() & vectors) == vectors;
}

/// Linux gives a process the tiles' state when it asks (Documentation/arch/x86/xstate.rst).
static bool mayUseTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

static bool hasTiles() {
  unsigned a, b, c, d;
  constexpr uint64_t tiles = 0x60000;
  return __builtin_cpu_supports("x86-64-v4") && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
         (d & bit_AMXBF16) && (d & bit_AMXTILE) && (savedState() & tiles) == tiles && mayUseTiles();
}

const char *nameOf(Bf16Units units) {
  return units == Bf16Units::tiles ? "tiles" : units == Bf16Units::dot ? "dot" : "none";
}

Bf16Units supportedBf16Units() {
  static const Bf16Units found = hasTiles() ? Bf16Units::tiles : hasDot() ? Bf16Units::dot : Bf16Units::none;
  return found;
}

static std::atomic<Bf16Units> &used() {
  static std::atomic<Bf16Units> units{supportedBf16Units()};
  return units;
}

void useBf16Units(Bf16Units units) { used() = units; }
Bf16Units usedBf16Units() { return used().load(std::memory_order_relaxed); }

} // namespace par::cpu
