#include "cuda/Gpu.h"

#include "cuda/Holders.h"

#include <charconv>

namespace par::cuda {

/// "8.0" → 80, "sm_90a" → 90 with `rest` "a"; -1 for anything else.
static int readPtx(const std::string &text) {
  int major = -1, minor = -1;
  const char *end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.')
    return -1;
  auto second = std::from_chars(first.ptr + 1, end, minor);
  return second.ec == std::errc() && second.ptr == end && minor >= 0 && minor < 10 ? 10 * major + minor : -1;
}

static int readChip(const std::string &text, bool &exact) {
  int number = -1;
  if (text.rfind("sm_", 0) != 0)
    return -1;
  const char *end = text.data() + text.size();
  auto read = std::from_chars(text.data() + 3, end, number);
  exact = read.ptr + 1 == end && *read.ptr == 'a';
  return read.ec == std::errc() && (read.ptr == end || exact) && number > 0 ? number : -1;
}

std::string problemOf(const Requirements &requirements) {
  bool exact = false;
  if (readChip(requirements.chip, exact) < 0)
    return "chip is \"" + requirements.chip + "\", expected sm_90 or the like";
  if (readPtx(requirements.ptx) < 0)
    return "ptx is \"" + requirements.ptx + "\", expected 8.0 or the like";
  return "";
}

/// Of NVIDIA's table: 80 and above came with CUDA 12, 90 with CUDA 13.
static int ptxOfDriver(int version) {
  int major = version / 1000, minor = version % 1000 / 10;
  if (major == 12)
    return 80 + (minor <= 5 ? minor : minor - 1);
  return 10 * (major - 4) + minor;
}

static std::string cudaOf(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string Gpu::driverVersion() const { return cudaOf(version); }

io::Status Gpu::count(int &gpus) {
  const Driver *driver = nullptr;
  PAR_TRY(loadDriver(driver));
  PAR_CUDA(*driver, cuDeviceGetCount, &gpus);
  return {};
}

io::Status Gpu::open(int number, int ranks, std::unique_ptr<Gpu> &gpu) {
  const Driver *driver = nullptr;
  PAR_TRY(loadDriver(driver));
  int count = 0;
  PAR_TRY(Gpu::count(count));
  if (number >= count)
    return io::Status::error("a package for CUDA needs a GPU for each of " + std::to_string(ranks) +
                             (ranks == 1 ? " rank" : " ranks") + " on this machine, which has " +
                             std::to_string(count) + "; start fewer ranks here, or see CUDA_VISIBLE_DEVICES");
  gpu.reset(new Gpu(*driver, number));
  return gpu->open();
}

io::Status Gpu::open() {
  int major = 0, minor = 0;
  char text[256] = "";
  PAR_CUDA(driver, cuDriverGetVersion, &version);
  PAR_CUDA(driver, cuDeviceGet, &device, number);
  PAR_CUDA(driver, cuDeviceGetName, text, int(sizeof(text)) - 1, device);
  PAR_CUDA(driver, cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  PAR_CUDA(driver, cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  product = text, chip = 10 * major + minor;
  return {};
}

Gpu::~Gpu() {
  if (context)
    driver.cuDevicePrimaryCtxRelease_v2(device);
}

io::Status Gpu::use() {
  if (!context)
    PAR_CUDA(driver, cuDevicePrimaryCtxRetain, &context, device);
  PAR_CUDA(driver, cuCtxSetCurrent, context);
  return {};
}

io::Status Gpu::id(std::string &text) const {
  CUuuid bytes;
  PAR_CUDA(driver, cuDeviceGetUuid_v2, &bytes, device);
  text.clear();
  for (unsigned char byte : bytes.bytes)
    for (int digit : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[digit];
  return {};
}

/// What par compiles for (par-compile --chip), for a GPU that runs none of the package.
static std::string remedyFor(int chip) {
  if (chip < 80)
    return "par compiles for sm_80 and newer, so take a newer GPU, or compile with --target cpu";
  return std::string("compile with --chip ") + (chip < 90 ? "sm_80" : "sm_90");
}

io::Status Gpu::check(const Requirements &requirements) const {
  bool exact = false;
  int needed = readChip(requirements.chip, exact), ptx = readPtx(requirements.ptx);
  if (chip < needed || (exact && chip != needed))
    return io::Status::error("was compiled for " + requirements.chip + ", but " + name() + " is sm_" +
                             std::to_string(chip) + "; " + remedyFor(chip));
  if (ptxOfDriver(version) < ptx)
    return io::Status::error(
        "has PTX " + requirements.ptx + ", but the driver is that of " + cudaOf(version) +
        ", which reads up to " + std::to_string(ptxOfDriver(version) / 10) + "." +
        std::to_string(ptxOfDriver(version) % 10) + "; install a newer " + driverName().package);
  return {};
}

io::Status Gpu::processors(int &count) const {
  PAR_CUDA(driver, cuDeviceGetAttribute, &count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  return {};
}

io::Status Gpu::memory(size_t &free, size_t &total) const {
  PAR_CUDA(driver, cuMemGetInfo_v2, &free, &total);
  return {};
}

std::string Gpu::describeMemory(bool isUsed) const {
  size_t free = 0, total = 0;
  std::string text = name(), number, holders;
  bool isKnown = memory(free, total).ok();
  if (id(number).ok())
    holders = holdersOf(number);
  if (isKnown && free >= total && holders.empty() && !isUsed) // there is nobody to end
    return text + ", which has " + std::to_string(total) +
           " bytes, all of them free; use a smaller model or batch, or more ranks";
  if (isKnown)
    text += ", of whose " + std::to_string(total) + " bytes " + std::to_string(free) + " are free";
  text += holders.empty()
              ? std::string(": the rest is held by ") + (isUsed ? "this run, " : "") +
                    "other processes (nvidia-smi lists them) and the driver"
              : ": " + holders + (isUsed ? ", this run and the driver the rest" : ", the driver the rest");
  return text + "; end those, or use a smaller model or batch";
}

} // namespace par::cuda
