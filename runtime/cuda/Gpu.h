/// The GPUs of a machine: which one a rank has, and whether it runs a package.
#ifndef PAR_CUDA_GPU_H
#define PAR_CUDA_GPU_H

#include "cuda/Driver.h"

#include <memory>
#include <string>

namespace par::cuda {

/// What a package asks of a GPU and its driver.
struct Requirements {
  std::string chip; ///< "sm_90"; with an "a" behind it that chip alone
  std::string ptx;  ///< "8.0"
};

/// Empty, or what is wrong with them.
std::string problemOf(const Requirements &requirements);

/// A GPU that this process sees. It costs nothing there until it is used.
class Gpu {
public:
  static io::Status count(int &gpus);
  /// Opens the one of this number. `ranks`: of this machine that need one of their own each, or 1.
  static io::Status open(int number, int ranks, std::unique_ptr<Gpu> &gpu);
  ~Gpu();

  /// Whether it runs a package, and which remedy there is.
  io::Status check(const Requirements &requirements) const;
  /// The calling thread computes on it: the process holds its primary context from now on.
  io::Status use();
  /// "GPU 0 (name), of whose 100 bytes 10 are free: process 4711 holds 70 bytes, the driver the rest; end
  /// those, or ...". `isUsed`: by this process, too.
  std::string describeMemory(bool isUsed) const;
  /// Bytes that are free, and all that there are, where the calling thread computes on it.
  io::Status memory(size_t &free, size_t &total) const;
  /// The same for all processes, and another one for every GPU of all machines, in hexadecimal digits.
  io::Status id(std::string &text) const;
  /// "GPU 0 (NVIDIA H100 80GB HBM3)"
  const std::string &productName() const { return product; }
  /// 90: sm_90
  int chipNumber() const { return chip; }
  /// How many multiprocessors it has.
  io::Status processors(int &count) const;
  /// Which CUDA it has: "CUDA 12.8".
  std::string driverVersion() const;
  std::string name() const { return "GPU " + std::to_string(number) + " (" + product + ")"; }

  const Driver &driver;

private:
  Gpu(const Driver &driver, int number) : driver(driver), number(number) {}
  io::Status open();

  const int number;
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::string product;
  int chip = 0;
  int version = 0; ///< of the driver: 12080
};

} // namespace par::cuda
#endif
