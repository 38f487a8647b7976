#include "standin/Exports.h"
#include "standin/Kernels.h"

#include <cstring>

namespace par::standin {

using namespace cuda;

/// The compiler of the driver says what it does not take.
static CUresult refuse(CUresult result, const std::string &why, unsigned count, const int *options,
                       void **values) {
  char *log = nullptr;
  size_t room = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      log = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      room = reinterpret_cast<size_t>(values[i]);
  }
  if (log && room)
    log[why.copy(log, room - 1)] = '\0';
  return result;
}

static CUresult checkLaunch(const Kernel &kernel, const KernelLaunch &launch, void **parameters,
                            void **extra) {
  uint64_t threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  auto refused = [&](CUresult result, const std::string &why) {
    report(kernel.name + ": launched " + why);
    return result;
  };
  if (extra || (!parameters && !kernel.text.parameterBytes.empty()))
    return refused(CUDA_ERROR_INVALID_VALUE,
                   "without its " + std::to_string(kernel.text.parameterBytes.size()) + " parameters");
  if (threads == 0 || uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] == 0)
    return refused(CUDA_ERROR_INVALID_VALUE, "with no thread");
  if (threads > kernel.text.mostThreads)
    return refused(CUDA_ERROR_INVALID_VALUE, "with " + std::to_string(threads) +
                                                 " threads in a block, its text says " +
                                                 std::to_string(kernel.text.mostThreads) + " at most");
  if (launch.grid[0] > 0x7FFFFFFF || launch.grid[1] > 65535 || launch.grid[2] > 65535)
    return refused(CUDA_ERROR_INVALID_VALUE, "with more blocks than a grid can have");
  if (launch.sharedBytes > kernel.sharedLimit)
    return refused(CUDA_ERROR_INVALID_VALUE, "with " + std::to_string(launch.sharedBytes) +
                                                 " bytes of shared memory, allowed are " +
                                                 std::to_string(kernel.sharedLimit));
  return CUDA_SUCCESS;
}

/// Parameters that are declared as pointers to the kernel's buffers have to be there.
static CUresult checkParameters(const Kernel &kernel) {
  size_t has = kernel.text.parameterBytes.size(), needs = kernel.buffers.size();
  if (!kernel.isDescribed || has == needs || has == needs + 1)
    return CUDA_SUCCESS;
  report(kernel.name + ": its text has " + std::to_string(has) + " parameters, the manifest " +
         std::to_string(needs) + " buffers");
  return CUDA_ERROR_INVALID_VALUE;
}

} // namespace par::standin

namespace par::cuda {

using namespace standin;

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().executor.failure);
  PAR_STANDIN_TRY(state().refuseInCapture("cuModuleLoadDataEx"));
  const Settings &settings = state().settings;
  std::string text = static_cast<const char *>(image);
  PtxModule ptx;
  if (std::string problem = readPtx(text, ptx); !problem.empty())
    return refuse(CUDA_ERROR_INVALID_PTX, "the text " + problem, count, options, values);
  if (ptx.version > ptxOf(settings.driver))
    return refuse(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version", count, options, values);
  if (ptx.chip > settings.chip || (ptx.exact && ptx.chip != settings.chip))
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "the text is for another chip", count, options, values);
  auto made = std::make_unique<CUmod_st>();
  findKernels(text, ptx, settings.kernels, *made);
  *module = made.release();
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  Lock lock(stateMutex());
  PAR_STANDIN_TRY(state().refuseInCapture("cuModuleUnload"));
  while (state().executor.step(lock))
    ;
  delete module;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  Lock lock(stateMutex());
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return CUDA_ERROR_NOT_FOUND;
  const Kernel &kernel = found->second->kernel;
  if (!kernel.emulated) {
    report(kernel.name + ": nobody emulates it");
    return CUDA_ERROR_NOT_FOUND;
  }
  PAR_STANDIN_TRY(checkParameters(kernel));
  *function = found->second.get();
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  Lock lock(stateMutex());
  constexpr int most = 227 << 10; // of Hopper
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > most)
    return CUDA_ERROR_INVALID_VALUE;
  function->kernel.sharedLimit = uint32_t(value);
  return CUDA_SUCCESS;
}

/// Of the time that events tell, beside the processor's. With a second for kernels of epilogues, products
/// whose own call has them are quicker, whatever else the processor does meanwhile.
static double secondsOf(const Kernel &kernel) { return kernel.name.rfind("epilogue_", 0) == 0 ? 1 : 0; }

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                        void **parameters, void **extra) {
  Lock lock(stateMutex());
  if (!state().isStream(stream, "cuLaunchKernel"))
    return CUDA_ERROR_INVALID_HANDLE;
  const Kernel &kernel = function->kernel;
  KernelLaunch launch{&kernel, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, {}};
  PAR_STANDIN_TRY(checkLaunch(kernel, launch, parameters, extra));
  for (size_t i = 0; i < kernel.text.parameterBytes.size(); ++i) {
    const char *value = static_cast<const char *>(parameters[i]);
    launch.parameters.emplace_back(value, value + kernel.text.parameterBytes[i]);
  }
  Op op = std::make_shared<Operation>("kernel " + kernel.name + " on " + stream->name);
  op->isKernel = true;
  op->run = [launch](Operation &self) {
    state().spent += secondsOf(*launch.kernel);
    return runKernel(state(), self, launch);
  };
  return state().submit(stream, op);
}

} // namespace par::cuda
