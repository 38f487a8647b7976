/// Kernels of a module: what its text says, what the package's manifest says, and who computes in their
/// place.
#ifndef PAR_STANDIN_KERNELS_H
#define PAR_STANDIN_KERNELS_H

#include "par/emulation.h"
#include "standin/Executor.h"
#include "standin/Ptx.h"

#include <memory>
#include <string>

namespace par::standin {

enum class Role { read, write, update };

/// A buffer of a kernel, as the manifest has it.
struct KernelBuffer {
  uint64_t bytes;
  Role role;
};

/// A kernel that can be launched.
struct Kernel {
  std::string name;
  PtxKernel text;
  bool isDescribed = false;          ///< the manifest has it
  std::vector<KernelBuffer> buffers; ///< its first parameters
  par_emulated_kernel emulated = nullptr;
  uint32_t sharedLimit = 48 << 10; ///< of dynamic shared memory
};

} // namespace par::standin

namespace par::cuda {
struct CUfunc_st {
  standin::Kernel kernel;
};
struct CUmod_st {
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};
} // namespace par::cuda

namespace par::standin {

/// Fills a module from its text: a package of PAR_STANDIN_KERNELS with a file of the same SHA-256 has the
/// emulated library and the manifest; else kernels that tests have given by name (Control.h). A kernel that
/// nobody computes is reported when it is looked up.
void findKernels(const std::string &text, const PtxModule &ptx, const std::vector<std::string> &folders,
                 cuda::CUmod_st &module);

/// A kernel for modules that no package has.
void giveKernel(const std::string &name, par_emulated_kernel kernel);
void forgetKernels();

/// One launch, as cuLaunchKernel takes it, with its parameters' values.
struct KernelLaunch {
  const Kernel *kernel;
  uint32_t grid[3], block[3], sharedBytes;
  std::vector<std::vector<char>> parameters;

  uint64_t address(size_t parameter) const;
};

class State;
/// Runs it, checks every access, and notes what it touched.
cuda::CUresult runKernel(State &state, Operation &op, const KernelLaunch &launch);

} // namespace par::standin
#endif
