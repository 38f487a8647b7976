/// Which device a rank has.
#ifndef PAR_CORE_DEVICES_H
#define PAR_CORE_DEVICES_H

#include "core/Manifest.h"
#include "core/Options.h"
#include "device/Device.h"

namespace par::rt {

/// What a rank has of its machine.
struct Place {
  int threads = 1;
  int gpu = 0;                ///< its number, as this process counts them
  bool deterministic = false; ///< --deterministic
};

/// Throws Error when there is no device here for the package, or PAR_TEST_DEVICE asks for one that does not
/// exist.
void checkDevice(const Manifest &manifest);

/// Throws Error for what a package's device does not do.
void checkOptions(const RunOptions &options, const Manifest &manifest);

/// Whether its ranks compute on GPUs: where they are processes, NCCL is between them.
bool isOnGpu(const Manifest &manifest);

/// Throws Error where the ranks of a package cannot be processes with this transport.
void checkAmongProcesses(const Manifest &manifest, TransportKind wanted);

/// The GPUs that this process sees, by their ids; none for packages of a CPU. Throws Error.
std::vector<std::string> gpusSeen(const Manifest &manifest);

/// Empty, or that so many ranks with arenas of this size find no room here: on their device, or in the host's
/// memory.
std::string deviceMemoryProblem(const Manifest &manifest, int64_t arena, int ranksHere, int gpu = 0);

/// "target cpu", "target cuda on GPU 0 (NVIDIA H100 80GB HBM3)"
std::string describeDevice(const Manifest &manifest);

/// The device of a rank, on the calling thread, with all that its program calls by number. PAR_POISON and
/// PAR_TEST_DEVICE are obeyed (docs/Running.md). Throws Error.
std::unique_ptr<device::Device> makeDevice(const Manifest &manifest, int rank, const Place &place);

} // namespace par::rt
#endif
