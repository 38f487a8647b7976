#include "RealCudnn.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace par::test {

static const char *const folders[] = {"", "/usr/local/cuda/lib/", "/usr/local/cuda/lib64/",
                                      "/usr/lib/x86_64-linux-gnu/"};

/// What cuDNN opens by name, it finds when it is there already.
static bool openFirst(const char *file) {
  for (const char *folder : folders)
    if (dlopen((std::string(folder) + file).c_str(), RTLD_NOW | RTLD_GLOBAL))
      return true;
  return false;
}

static io::Status open(cuda::Cudnn &functions) {
  if (!dlopen(PAR_DEVICELESS_CUDA, RTLD_NOW | RTLD_GLOBAL))
    return io::Status::error(dlerror());
  for (const char *compiler : {"libnvrtc.so.13", "libnvrtc.so.12"})
    if (openFirst(compiler))
      break;
  cuda::LibraryName name = cuda::cudnnName();
  std::string file = name.files.front();
  name.files.clear();
  for (const char *folder : folders)
    name.files.push_back(folder + file);
  return cuda::openCudnn(name, functions);
}

const cuda::Cudnn *findCudnn(std::string &why) {
  static cuda::Cudnn functions;
  static const io::Status status = open(functions);
  why = status.message();
  return status.ok() ? &functions : nullptr;
}

namespace {
struct Chip {
  int version, processors, sharedBytes;
  long cacheBytes;
  const char *name;
};
} // namespace

/// The members are those that cuDNN asks for.
io::Status describeChip(const std::string &chip, cuda::Descriptor &device) {
  static const Chip hopper{900, 132, 232448, 62914560, "NVIDIA H200"},
      ampere{800, 108, 166912, 41943040, "NVIDIA A100-SXM4-80GB"};
  const Chip &what = chip == "sm_80" ? ampere : hopper;
  char text[2048];
  std::snprintf(
      text, sizeof(text),
      R"({"cudaDeviceId":0,"deviceVer":%d,"driverVer":13000,"maxGridSize":[2147483647,65535,65535],)"
      R"("maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":%d,"warpSize":32,)"
      R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":%d,"reservedSharedMemoryPerBlock":1024,)"
      R"("maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,)"
      R"("pciDeviceId":0,"totalGlobalMem":80000000000,"isTccDriver":0,"supportCoopLaunch":1,)"
      R"("smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":%ld,"deviceName":"%s"})",
      what.version, what.processors, what.sharedBytes, what.cacheBytes, what.name);
  return cuda::describeDevice(std::string(text), device);
}

} // namespace par::test
