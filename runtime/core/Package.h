/// A package folder: integrity first, then the manifest and the native code.
#ifndef PAR_CORE_PACKAGE_H
#define PAR_CORE_PACKAGE_H

#include "core/Manifest.h"
#include "device/Device.h"

#include <string>

namespace par::rt {

/// Format of manifest.json and folder that this runtime reads.
constexpr int64_t packageFormatVersion = 6;

using device::Schedule;

/// Checks fingerprint, versions, every file's hash and the processor's features, in this order, then reads
/// the manifest. Throws Error.
Manifest openPackage(const std::string &folder);

/// The manifest alone, for tools that run nothing: fingerprint and versions are checked, neither the other
/// files nor the processor. Throws Error.
Manifest readManifest(const std::string &folder);

/// Loads the programs, which have to be those of the manifest, and finds a schedule of each; null for those
/// that have no part in it. They stay loaded until the process ends. Throws Error.
std::vector<Schedule> loadSchedules(const std::string &folder, const Manifest &manifest,
                                    const std::string &name);

} // namespace par::rt
#endif
