/// The kernels of a program on a GPU.
#ifndef PAR_CUDA_KERNELS_H
#define PAR_CUDA_KERNELS_H

#include "cuda/CudaWork.h"
#include "cuda/Driver.h"

#include <memory>
#include <string>

namespace par::cuda {

/// A module of PTX that the driver has compiled.
class Module {
public:
  explicit Module(const Driver &driver) : driver(driver) {}
  ~Module();
  /// `name`: of the text, for messages.
  io::Status load(const std::string &name, const std::string &text);
  io::Status find(const std::string &kernel, CUfunction &function) const;

private:
  const Driver &driver;
  std::string name;
  CUmodule module = nullptr;
};

class Kernels {
public:
  explicit Kernels(const Driver &driver) : driver(driver), module(driver) {}
  /// `coordinates`: where those of the rank are on the device.
  io::Status load(const std::string &name, const std::string &text, const std::vector<KernelWork> &list,
                  CUdeviceptr coordinates);
  io::Status launch(int32_t number, void *const *buffers, CUstream stream);
  /// One behind the other, on buffers of a call.
  io::Status launch(const std::vector<InnerLaunch> &launches, void *const *buffers, CUstream stream);

private:
  struct Loaded {
    KernelWork work;
    CUfunction function;
  };
  const Driver &driver;
  Module module;
  std::vector<Loaded> kernels;
  // Of a launch; kept here to allocate nothing in a step.
  std::vector<CUdeviceptr> values;
  std::vector<void *> parameters, given;
  CUdeviceptr coordinates = 0;
};

} // namespace par::cuda
#endif
