#include "cuda/cudnn/Deviceless.h"

#include "cuda/cudnn/ExecutionPlan.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".globl par_deviceless_begin\n"
    "par_deviceless_begin: .incbin \"" PAR_DEVICELESS_DRIVER "\"\n"
    ".globl par_deviceless_end\n"
    "par_deviceless_end:\n"
    ".popsection\n");
extern "C" const char par_deviceless_begin[], par_deviceless_end[];

namespace par::cuda {

/// Where NVIDIA's packages put libraries that the loader does not look for.
static const char *const folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"};

/// A library by the name of the driver's: what cuDNN opens by name, it finds when it is there already. It is
/// in no file, so there is nothing to be installed or left behind.
static io::Status openDriver() {
  size_t bytes = size_t(par_deviceless_end - par_deviceless_begin);
  int file = memfd_create("libcuda.so.1", MFD_CLOEXEC);
  if (file < 0 || write(file, par_deviceless_begin, bytes) != ssize_t(bytes))
    return io::Status::error(std::string("a driver without a device cannot be made: ") +
                             std::strerror(errno));
  bool isOpen = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_GLOBAL);
  close(file);
  return isOpen ? io::Status() : io::Status::error(dlerror());
}

/// The compiler that cuDNN has its kernels from, and which it opens by name as well.
static void openCompiler() {
  for (const char *file : {"libnvrtc.so.13", "libnvrtc.so.12"})
    for (const char *folder : folders)
      if (dlopen((std::string(folder) + file).c_str(), RTLD_NOW | RTLD_GLOBAL))
        return;
}

static io::Status open(Cudnn &functions) {
  PAR_TRY(openDriver());
  openCompiler();
  LibraryName name = cudnnName();
  std::string file = name.files.front();
  name.files.clear();
  for (const char *folder : folders)
    name.files.push_back(folder + file);
  name.purpose = "planning for cuDNN", name.otherwise = "leave out --cudnn-plans: a run plans at its start";
  return openCudnn(name, functions);
}

io::Status loadCudnnWithoutDevice(const Cudnn *&functions) {
  static Cudnn loaded;
  static const io::Status status = open(loaded);
  functions = &loaded;
  return status;
}

namespace {
struct Chip {
  int version, processors, sharedBytes;
  long cacheBytes;
  const char *name;
};
} // namespace

static const Chip &chipOf(const std::string &name) {
  static const Chip hopper{90, 132, 232448, 62914560, "NVIDIA H200"},
      ampere{80, 108, 166912, 41943040, "NVIDIA A100-SXM4-80GB"};
  return name == "sm_80" ? ampere : hopper;
}

/// The members are those that cuDNN asks for; it says so in no document.
io::Status describeChip(const std::string &chip, Descriptor &device) {
  const Chip &what = chipOf(chip);
  char text[2048];
  std::snprintf(
      text, sizeof(text),
      R"({"cudaDeviceId":0,"deviceVer":%d,"driverVer":13000,"maxGridSize":[2147483647,65535,65535],)"
      R"("maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":%d,"warpSize":32,)"
      R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":%d,"reservedSharedMemoryPerBlock":1024,)"
      R"("maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,)"
      R"("pciDeviceId":0,"totalGlobalMem":80000000000,"isTccDriver":0,"supportCoopLaunch":1,)"
      R"("smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":%ld,"deviceName":"%s"})",
      10 * what.version, what.processors, what.sharedBytes, what.cacheBytes, what.name);
  return describeDevice(std::string(text), device);
}

PlanBasis basisOf(const Cudnn &cudnn, const std::string &chip) {
  return {cudnn.version(), chipOf(chip).version, chipOf(chip).processors};
}

} // namespace par::cuda
