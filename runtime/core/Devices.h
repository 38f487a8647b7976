/// Which device a rank has.
#ifndef PAR_CORE_DEVICES_H
#define PAR_CORE_DEVICES_H

#include "core/Manifest.h"
#include "device/Device.h"

namespace par::rt {

/// Throws Error when there is no device here for the package, or PAR_TEST_DEVICE asks for one that does not
/// exist.
void checkDevice(const Manifest &manifest);

/// The device of the calling thread's rank, with so many threads. PAR_POISON and PAR_TEST_DEVICE are obeyed
/// (docs/Running.md).
std::unique_ptr<device::Device> makeDevice(int threads);

} // namespace par::rt
#endif
