/// Which device a rank has.
#ifndef PAR_CORE_DEVICES_H
#define PAR_CORE_DEVICES_H

#include "core/Manifest.h"
#include "core/Options.h"
#include "device/Device.h"

namespace par::rt {

/// Throws Error when there is no device here for the package, or PAR_TEST_DEVICE asks for one that does not
/// exist.
void checkDevice(const Manifest &manifest);

/// Throws Error for what a package's device does not do.
void checkOptions(const RunOptions &options, const Manifest &manifest);

/// Throws Error where the ranks of a package cannot be processes.
void checkAmongProcesses(const Manifest &manifest);

/// Empty, or that so many ranks with arenas of this size find no room here: on their device, or in the host's
/// memory.
std::string deviceMemoryProblem(const Manifest &manifest, int64_t arena, int ranksHere);

/// "target cpu", "target cuda on GPU 0 (NVIDIA H100 80GB HBM3)"
std::string describeDevice(const Manifest &manifest);

/// The device of a rank, on the calling thread, with so many threads and all that its program calls by
/// number. PAR_POISON and PAR_TEST_DEVICE are obeyed (docs/Running.md). Throws Error.
std::unique_ptr<device::Device> makeDevice(const Manifest &manifest, int rank, int threads);

} // namespace par::rt
#endif
