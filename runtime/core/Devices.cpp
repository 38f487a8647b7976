#include "core/Devices.h"

#include "core/Error.h"
#include "core/Loading.h"
#include "core/Messages.h"
#include "core/Topology.h"
#include "cpu/CpuDevice.h"
#include "cuda/CudaDevice.h"
#include "par/io/Files.h"

#include <cstdlib>

namespace par::rt {

/// Of the environment; empty where it is not set.
static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static bool isOnGpu(const Manifest &manifest) { return manifest.target == "cuda"; }

/// All ranks of this process share the first one that the driver shows.
static std::unique_ptr<cuda::Gpu> openGpu(const Manifest &manifest) {
  std::unique_ptr<cuda::Gpu> gpu;
  if (io::Status status = cuda::Gpu::open(0, 1, gpu); !status.ok())
    throw Error(manifest.path + ": " + status.message());
  return gpu;
}

static void checkGpu(const Manifest &manifest) {
  cuda::Requirements needs{manifest.chip, manifest.ptx};
  if (std::string problem = cuda::problemOf(needs); !problem.empty())
    throw Error(manifest.path + ": " + problem + "; compile the package again");
  if (io::Status status = openGpu(manifest)->check(needs); !status.ok())
    throw Error(manifest.path + ": " + status.message());
  if (hasMessages(manifest))
    throw Error(manifest.path + ": stages of a pipeline cannot run on GPUs yet; compile without pp, or with "
                                "--target cpu");
}

void checkDevice(const Manifest &manifest) {
  if (isOnGpu(manifest))
    return checkGpu(manifest);
  if (manifest.target != "cpu")
    throw Error(manifest.path + ": target is \"" + manifest.target +
                "\", but this runtime is built for cpu and cuda only");
  std::string asked = environment("PAR_TEST_DEVICE");
  if (!asked.empty() && asked != "unmapped")
    throw Error("PAR_TEST_DEVICE: \"" + asked + "\" is no device for tests, expected unmapped or nothing");
}

void checkOptions(const RunOptions &options, const Manifest &manifest) {
  if (!isOnGpu(manifest))
    return;
  const char *flag = options.profile                 ? "--profile"
                     : !options.trace.empty()        ? "--trace"
                     : options.kernels.areEmulated() ? "--emulate-kernels"
                                                     : nullptr;
  if (flag)
    throw Error(std::string(flag) + " knows the time of the host's processor only, but " + manifest.path +
                " has target cuda; leave it out");
}

void checkAmongProcesses(const Manifest &manifest) {
  if (isOnGpu(manifest))
    throw Error(manifest.path +
                ": has target cuda, whose ranks cannot be processes of a launcher yet; run it without "
                "one, and all ranks are threads on one GPU");
}

std::string deviceMemoryProblem(const Manifest &manifest, int64_t arena, int ranksHere) {
  if (!isOnGpu(manifest))
    return memoryProblem(manifest, arena + manifest.hostArenaBytes(), ranksHere, availableMemory());
  std::unique_ptr<cuda::Gpu> gpu = openGpu(manifest);
  size_t free = 0, total = 0;
  if (io::Status status = gpu->memory(free, total); !status.ok())
    return manifest.path + ": " + status.message();
  int64_t needed = 0;
  if (__builtin_mul_overflow(arena, int64_t(ranksHere), &needed) || needed < 0 || size_t(needed) > free)
    return manifest.path + ": " + std::to_string(ranksHere) +
           (ranksHere == 1 ? " rank needs" : " ranks need") + " arenas of " + std::to_string(arena) +
           " bytes each on " + gpu->name() + ", of whose " + std::to_string(total) + " bytes " +
           std::to_string(free) +
           " are free: the rest is held by other processes (nvidia-smi lists them) and the driver; end "
           "those, or use a "
           "smaller model or batch";
  return manifest.hostArenaBytes()
             ? memoryProblem(manifest, manifest.hostArenaBytes(), ranksHere, availableMemory())
             : "";
}

std::string describeDevice(const Manifest &manifest) {
  return "target " + manifest.target + (isOnGpu(manifest) ? " on " + openGpu(manifest)->name() : "");
}

static bool poisons() {
  std::string poison = environment("PAR_POISON");
  return !poison.empty() && poison != "0";
}

static std::unique_ptr<device::Device> makeCpuDevice(int threads) {
  cpu::CpuDeviceOptions options;
  options.threads = threads;
  options.poison = poisons();
  if (environment("PAR_TEST_DEVICE") == "unmapped")
    options.flippedBits = uint64_t(0x5A5A) << 48; // no address of a process has such high bits
  return std::make_unique<cpu::CpuDevice>(options);
}

static std::unique_ptr<device::Device> makeCudaDevice(const Manifest &manifest, int rank) {
  const Program &program = manifest.programOf(rank);
  cuda::CudaDeviceOptions options;
  options.poison = poisons();
  std::unique_ptr<cuda::CudaDevice> made;
  cuda::CudaProgram loaded{manifest.path.substr(0, manifest.path.rfind('/') + 1) + program.moduleFile(), "",
                           program.device, coordinatesOf(manifest.axes, rank)};
  check(io::readFile(loaded.name, loaded.ptx));
  check(cuda::CudaDevice::make(options, made));
  check(made->load(loaded));
  return made;
}

std::unique_ptr<device::Device> makeDevice(const Manifest &manifest, int rank, int threads) {
  return isOnGpu(manifest) ? makeCudaDevice(manifest, rank) : makeCpuDevice(threads);
}

} // namespace par::rt
