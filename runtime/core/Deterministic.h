/// What --deterministic asks for: the same bits whenever the same command runs on the same machines.
#ifndef PAR_CORE_DETERMINISTIC_H
#define PAR_CORE_DETERMINISTIC_H

#include "core/Manifest.h"

namespace par::rt {

/// Why sums of the package that NCCL makes may differ from run to run, or nothing. All else that a step
/// computes has one order: par's kernels and transports, and cuBLASLt as it is asked for.
std::string ncclOrderProblem(const Manifest &manifest);

} // namespace par::rt
#endif
