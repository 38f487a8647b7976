#include "core/Devices.h"

#include "comm/local/LocalDevices.h"
#include "comm/nccl/Nccl.h"
#include "comm/nccl/NcclCollectives.h"
#include "core/AttentionChoice.h"
#include "core/Error.h"
#include "core/Loading.h"
#include "core/Topology.h"
#include "cpu/CpuDevice.h"
#include "cuda/CudaDevice.h"
#include "par/io/Files.h"

#include <algorithm>
#include <cstdlib>

namespace par::rt {

/// Of the environment; empty where it is not set.
static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool isOnGpu(const Manifest &manifest) { return manifest.target == "cuda"; }

/// Throws with the package's name.
static void checkFor(const Manifest &manifest, const io::Status &status) {
  if (!status.ok())
    throw Error(manifest.path + ": " + status.message());
}

static std::unique_ptr<cuda::Gpu> openGpu(const Manifest &manifest, int number) {
  std::unique_ptr<cuda::Gpu> gpu;
  checkFor(manifest, cuda::Gpu::open(number, 1, gpu));
  return gpu;
}

/// Whether this GPU runs the package.
static void checkGpu(const Manifest &manifest, int number) {
  cuda::Requirements needs{manifest.chip, manifest.ptx};
  if (std::string problem = cuda::problemOf(needs); !problem.empty())
    throw Error(manifest.path + ": " + problem + "; compile the package again");
  checkFor(manifest, openGpu(manifest, number)->check(needs));
}

void checkDevice(const Manifest &manifest) {
  if (isOnGpu(manifest))
    return checkGpu(manifest, 0);
  if (manifest.target != "cpu")
    throw Error(manifest.path + ": target is \"" + manifest.target +
                "\", but this runtime is built for cpu and cuda only");
  std::string asked = environment("PAR_TEST_DEVICE");
  if (!asked.empty() && asked != "unmapped")
    throw Error("PAR_TEST_DEVICE: \"" + asked + "\" is no device for tests, expected unmapped or nothing");
}

void checkOptions(const RunOptions &options, const Manifest &manifest) {
  bool tunes = std::find(options.given.begin(), options.given.end(), "--tune-seconds") != options.given.end();
  if (!isOnGpu(manifest) && tunes)
    throw Error("--tune-seconds is for products of GPUs, but " + manifest.path +
                " has target cpu; leave it out");
  if (options.attention != AttentionChoice::automatic)
    checkAttentionFlag(options.attention, manifest);
  if (!isOnGpu(manifest))
    return;
  const char *flag = options.kernels.areEmulated() ? "--emulate-kernels"
                     : options.link.isEmulated()   ? "--emulate-link"
                                                   : nullptr;
  if (flag)
    throw Error(std::string(flag) + " knows the time of the host's processor only, but " + manifest.path +
                " has target cuda; leave it out");
}

void checkAmongProcesses(const Manifest &manifest, TransportKind wanted) {
  const nccl::Nccl *nccl = nullptr;
  if (isOnGpu(manifest))
    return checkFor(manifest, nccl::loadNccl(nccl));
  if (wanted == TransportKind::nccl)
    throw Error("--transport nccl moves memory of GPUs, but " + manifest.path +
                " has target cpu; leave it out, or compile with --target cuda");
}

std::vector<std::string> gpusSeen(const Manifest &manifest) {
  std::vector<std::string> ids;
  int count = 0;
  if (isOnGpu(manifest))
    checkFor(manifest, cuda::Gpu::count(count));
  for (int number = 0; number < count; ++number) {
    ids.emplace_back();
    checkFor(manifest, openGpu(manifest, number)->id(ids.back()));
  }
  return ids;
}

/// What a rank takes of its GPU beside its arena: its coordinates, and room for collectives.
static int64_t bytesBeside(const Manifest &manifest, int rank, bool isProcess) {
  constexpr int64_t ofCoordinates = 256;
  int64_t elements = 0, bytes = 0;
  for (const ManifestCollective &collective : manifest.programOf(rank).collectives) {
    int64_t combined = 0, received = 0;
    if (isProcess)
      received = nccl::roomOf(collective.what);
    else
      comm::roomOf(collective.what, int(groupOf(manifest, rank, collective.members).size()), combined,
                   received);
    elements = std::max(elements, combined), bytes = std::max(bytes, received);
  }
  return ofCoordinates + cuda::Combiner::roomOf(elements) + bytes;
}

/// Of the program that takes most.
static int64_t bytesBeside(const Manifest &manifest, bool isProcess) {
  int64_t most = 0;
  for (size_t program = 0; program < manifest.programs.size(); ++program)
    most = std::max(most, bytesBeside(manifest, firstRankOf(manifest, program), isProcess));
  return most;
}

std::string deviceMemoryProblem(const Manifest &manifest, int64_t arena, int ranksHere, int number) {
  if (!isOnGpu(manifest))
    return memoryProblem(manifest, arena + manifest.hostArenaBytes(), ranksHere, availableMemory());
  std::unique_ptr<cuda::Gpu> gpu = openGpu(manifest, number);
  size_t free = 0, total = 0;
  checkFor(manifest, gpu->use());
  checkFor(manifest, gpu->memory(free, total));
  int64_t beside = bytesBeside(manifest, /*isProcess=*/ranksHere < manifest.worldSize), needed = 0;
  bool isTooMuch = __builtin_add_overflow(arena, beside, &needed) ||
                   __builtin_mul_overflow(needed, int64_t(ranksHere), &needed);
  if (isTooMuch || needed < 0 || size_t(needed) > free)
    return manifest.path + ": " + std::to_string(ranksHere) +
           (ranksHere == 1 ? " rank needs" : " ranks need") + " arenas of " + std::to_string(arena) +
           " bytes each, and " + std::to_string(beside) + " bytes each beside them, on " +
           gpu->describeMemory(/*isUsed=*/false);
  return manifest.hostArenaBytes()
             ? memoryProblem(manifest, manifest.hostArenaBytes(), ranksHere, availableMemory())
             : "";
}

std::string describeDevice(const Manifest &manifest) {
  return "target " + manifest.target + (isOnGpu(manifest) ? " on " + openGpu(manifest, 0)->name() : "");
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

static std::optional<cuda::StoredPlans> readPlans(const Manifest &manifest, const Program &program) {
  if (!manifest.files.count(program.plansFile()))
    return std::nullopt;
  std::string name = manifest.path.substr(0, manifest.path.rfind('/') + 1) + program.plansFile(), text;
  check(io::readFile(name, text));
  cuda::StoredPlans stored;
  check(cuda::parse(name, text, stored));
  return stored;
}

static std::unique_ptr<device::Device> makeCudaDevice(const Manifest &manifest, int rank,
                                                      const Place &place) {
  const Program &program = manifest.programOf(rank);
  cuda::CudaDeviceOptions options;
  options.poison = poisons(), options.gpu = place.gpu, options.splitsSums = !place.deterministic;
  std::unique_ptr<cuda::CudaDevice> made;
  cuda::CudaProgram loaded{manifest.path.substr(0, manifest.path.rfind('/') + 1) + program.moduleFile(), "",
                           program.device, coordinatesOf(manifest.axes, rank), readPlans(manifest, program)};
  checkGpu(manifest, place.gpu);
  check(io::readFile(loaded.name, loaded.ptx));
  check(cuda::CudaDevice::make(options, made));
  check(made->load(loaded));
  return made;
}

std::unique_ptr<device::Device> makeDevice(const Manifest &manifest, int rank, const Place &place) {
  return isOnGpu(manifest) ? makeCudaDevice(manifest, rank, place) : makeCpuDevice(place.threads);
}

} // namespace par::rt
