/// Which of the processor's units a run multiplies bf16 numbers with.
#ifndef PAR_CORE_BF16CHOICE_H
#define PAR_CORE_BF16CHOICE_H

#include "core/Manifest.h"
#include "core/Options.h"

namespace par::rt {

/// Uses what --bf16-units says, or this processor's fastest. Throws where the flag means nothing to the
/// package, or the processor has no such units.
void chooseBf16Units(const RunOptions &options, const Manifest &manifest);

/// What the package's products of bf16 numbers use ("none", "dot", "tiles"); "" where it has none on a CPU.
/// Ranks must have it alike: what several of them compute, each for itself, must be the same.
std::string bf16UnitsOf(const Manifest &manifest);

/// Why a run that was told nothing uses these, for its first lines.
std::string reasonFor(cpu::Bf16Units used, cpu::Bf16Units supported);

} // namespace par::rt
#endif
