#include "cpu/Units.h"

#include "cpu/CpuFeatures.h"
#include "cpu/DotRate.h"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace par::cpu {

static bool supports(const char *feature) { return cpuSupports(feature) == CpuSupport::yes; }

// The kernels are compiled for x86-64-v4 besides.
static bool hasDot() { return __builtin_cpu_supports("x86-64-v4") && supports("avx512bf16"); }

/// Linux gives a process the tiles' state when it asks (Documentation/arch/x86/xstate.rst).
static bool mayUseTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

static bool hasTiles() {
  return __builtin_cpu_supports("x86-64-v4") && supports("amx-tile") && supports("amx-bf16") && mayUseTiles();
}

const char *nameOf(Bf16Units units) {
  return units == Bf16Units::tiles ? "tiles" : units == Bf16Units::dot ? "dot" : "none";
}

Bf16Units supportedBf16Units() {
  static const Bf16Units found = hasTiles() ? Bf16Units::tiles : hasDot() ? Bf16Units::dot : Bf16Units::none;
  return found;
}

Bf16Units quickerUnits(Bf16Units supported, double dotsPerMultiplication) {
  // At 1/2 both do as many terms, and blocks of f32 numbers are rounded less. Between that and 1 no processor
  // is known.
  constexpr double enough = 0.7;
  return supported == Bf16Units::dot && dotsPerMultiplication < enough ? Bf16Units::none : supported;
}

Bf16Units fastestBf16Units() {
  static const Bf16Units found = quickerUnits(
      supportedBf16Units(), supportedBf16Units() == Bf16Units::dot ? dotsPerMultiplication() : 1);
  return found;
}

static std::atomic<Bf16Units> &used() {
  static std::atomic<Bf16Units> units{fastestBf16Units()};
  return units;
}

void useBf16Units(Bf16Units units) { used() = units; }
Bf16Units usedBf16Units() { return used().load(std::memory_order_relaxed); }

} // namespace par::cpu
