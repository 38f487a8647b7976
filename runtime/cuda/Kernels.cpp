#include "cuda/Kernels.h"

#include <algorithm>

namespace par::cuda {

Module::~Module() {
  if (module)
    driver.cuModuleUnload(module);
}

/// The first line that the driver's compiler says.
static std::string firstLine(const char *log) {
  std::string text = log;
  return text.substr(0, text.find('\n'));
}

io::Status Module::load(const std::string &given, const std::string &text) {
  name = given;
  char log[4096] = "";
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CUresult result = driver.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (result == CUDA_SUCCESS)
    return {};
  std::string said = firstLine(log);
  return io::Status::error(
      name + ": the driver does not load it: " + driver.status("cuModuleLoadDataEx", result).message() +
      (said.empty() ? "" : ", " + said) + "; compile the package again for this GPU");
}

io::Status Module::find(const std::string &kernel, CUfunction &function) const {
  CUresult result = driver.cuModuleGetFunction(&function, module, kernel.c_str());
  if (result == CUDA_SUCCESS)
    return {};
  return io::Status::error(name + ": kernel " + kernel + ": " +
                           driver.status("cuModuleGetFunction", result).message() +
                           "; compile the package again");
}

io::Status Kernels::load(const std::string &name, const std::string &text,
                         const std::vector<KernelWork> &list, CUdeviceptr where) {
  coordinates = where;
  if (list.empty())
    return {};
  PAR_TRY(module.load(name, text));
  size_t most = 0;
  for (const KernelWork &work : list) {
    CUfunction function = nullptr;
    PAR_TRY(module.find(work.name, function));
    if (work.sharedBytes > 48 << 10) // what a kernel has without asking
      PAR_CUDA(driver, cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
               int(work.sharedBytes));
    kernels.push_back({work, function});
    most = std::max(most, work.buffers.size() + 1);
  }
  values.resize(most);
  for (CUdeviceptr &value : values)
    parameters.push_back(&value);
  return {};
}

io::Status Kernels::launch(int32_t number, void *const *buffers, CUstream stream) {
  if (number < 0 || size_t(number) >= kernels.size())
    return io::Status::error("launched kernel " + std::to_string(number) + " of " +
                             std::to_string(kernels.size()) + "; compile the package again");
  const Loaded &kernel = kernels[size_t(number)];
  const KernelWork &work = kernel.work;
  size_t count = work.buffers.size();
  for (size_t i = 0; i < count; ++i)
    values[i] = reinterpret_cast<CUdeviceptr>(buffers[i]);
  if (work.takesCoordinates)
    values[count] = coordinates;
  CUresult result = driver.cuLaunchKernel(kernel.function, work.grid[0], work.grid[1], work.grid[2],
                                          work.block[0], work.block[1], work.block[2], work.sharedBytes,
                                          stream, parameters.data(), nullptr);
  if (result == CUDA_SUCCESS)
    return {};
  return io::Status::error("kernel " + work.name + ": " + driver.status("cuLaunchKernel", result).message());
}

io::Status Kernels::launch(const std::vector<InnerLaunch> &launches, void *const *buffers, CUstream stream) {
  for (const InnerLaunch &each : launches) {
    given.clear();
    for (const InnerLaunch::Buffer &buffer : each.buffers)
      given.push_back(buffers[buffer.number]);
    PAR_TRY(launch(each.kernel, given.data(), stream));
  }
  return {};
}

} // namespace par::cuda
