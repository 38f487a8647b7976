#include "core/Devices.h"

#include "core/Error.h"
#include "cpu/CpuDevice.h"

#include <cstdlib>

namespace par::rt {

/// Of the environment; empty where it is not set.
static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

void checkDevice(const Manifest &manifest) {
  if (manifest.target != "cpu")
    throw Error(manifest.path + ": target is \"" + manifest.target +
                "\", but this runtime is built for cpu only");
  std::string asked = environment("PAR_TEST_DEVICE");
  if (!asked.empty() && asked != "unmapped")
    throw Error("PAR_TEST_DEVICE: \"" + asked + "\" is no device for tests, expected unmapped or nothing");
}

std::unique_ptr<device::Device> makeDevice(int threads) {
  cpu::CpuDeviceOptions options;
  options.threads = threads;
  std::string poison = environment("PAR_POISON");
  options.poison = !poison.empty() && poison != "0";
  if (environment("PAR_TEST_DEVICE") == "unmapped")
    options.flippedBits = uint64_t(0x5A5A) << 48; // no address of a process has such high bits
  return std::make_unique<cpu::CpuDevice>(options);
}

} // namespace par::rt
