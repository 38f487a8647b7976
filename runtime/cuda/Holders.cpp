#include "cuda/Holders.h"

#include "cuda/Library.h"

#include <algorithm>
#include <unistd.h>

namespace par::cuda {

namespace {
struct Nvml {
#define PAR_NVML_FUNCTION(name, ...) nvmlReturn_t (*name)(__VA_ARGS__) = nullptr;
#include "cuda/NvmlFunctions.def"
};
} // namespace

/// Nothing depends on it: where it is missing, nobody is named.
static const Nvml *loadNvml() {
  static Nvml functions;
  static const bool good = [] {
    std::vector<Symbol> symbols = {
#define PAR_NVML_FUNCTION(name, ...) {#name, reinterpret_cast<void **>(&functions.name)},
#include "cuda/NvmlFunctions.def"
    };
    return openLibrary({{"libnvidia-ml.so.1"}, "CUDA 12.0", "NVIDIA's driver"}, symbols).ok();
  }();
  return good ? &functions : nullptr;
}

/// "GPU-5fe1b9a7-...", as the library names them.
static std::string nameOf(const std::string &id) {
  std::string name = "GPU-" + id;
  for (size_t dash : {12, 17, 22, 27})
    if (dash < name.size())
      name.insert(dash, "-");
  return name;
}

static std::vector<nvmlProcessInfo_t> processesOn(const Nvml &nvml, const std::string &id) {
  std::vector<nvmlProcessInfo_t> all(64);
  auto count = unsigned(all.size());
  nvmlDevice_t device = nullptr;
  bool good = nvml.nvmlDeviceGetHandleByUUID(nameOf(id).c_str(), &device) == 0 &&
              nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, all.data()) == 0;
  all.resize(good ? count : 0);
  return all;
}

std::string holdersOf(const std::string &id) {
  const Nvml *nvml = loadNvml();
  if (!nvml || nvml->nvmlInit_v2() != 0)
    return "";
  std::vector<nvmlProcessInfo_t> all = processesOn(*nvml, id);
  nvml->nvmlShutdown();
  std::sort(all.begin(), all.end(), [](const nvmlProcessInfo_t &one, const nvmlProcessInfo_t &other) {
    return one.usedGpuMemory > other.usedGpuMemory;
  });
  std::string text;
  for (const nvmlProcessInfo_t &one : all) {
    if (one.pid == unsigned(getpid()))
      continue;
    text += (text.empty() ? "" : ", ") + ("process " + std::to_string(one.pid)) + " holds ";
    text += one.usedGpuMemory == ~0ull ? "some of it" : std::to_string(one.usedGpuMemory) + " bytes";
  }
  return text;
}

} // namespace par::cuda
