#include "core/Bf16Choice.h"

#include "core/Devices.h"
#include "core/Error.h"

namespace par::rt {

static bool multipliesBf16(const Manifest &manifest) {
  return manifest.dtype == "bf16" && !isOnGpu(manifest);
}

void chooseBf16Units(const RunOptions &options, const Manifest &manifest) {
  if (!multipliesBf16(manifest)) {
    if (options.bf16Units)
      throw Error("--bf16-units is about products of bf16 numbers on CPUs, of which " + manifest.path +
                  " has none (its numbers are " + manifest.dtype + ", its target is " + manifest.target +
                  "); leave the flag out");
    return; // neither is the processor asked nor its rate measured
  }
  cpu::Bf16Units supported = cpu::supportedBf16Units(),
                 wanted = options.bf16Units ? *options.bf16Units : cpu::fastestBf16Units();
  if (wanted > supported)
    throw Error(std::string("--bf16-units ") + nameOf(wanted) +
                ": this processor, or its operating system, " +
                (supported == cpu::Bf16Units::none ? "has no units for bf16"
                                                   : std::string("has at most ") + nameOf(supported)) +
                "; give --bf16-units " + nameOf(supported) + ", or leave the flag out");
  cpu::useBf16Units(wanted);
}

std::string bf16UnitsOf(const Manifest &manifest) {
  return multipliesBf16(manifest) ? nameOf(cpu::usedBf16Units()) : "";
}

std::string reasonFor(cpu::Bf16Units used, cpu::Bf16Units supported) {
  return used == supported ? "the most that this processor has"
                           : std::string("which is faster here than ") + nameOf(supported);
}

} // namespace par::rt
