/// Packages of TinyCudaProgram: the tiny model for GPUs, with kernels that the stand-in runs.
#ifndef PAR_TEST_CUDA_TINYCUDAPACKAGE_H
#define PAR_TEST_CUDA_TINYCUDAPACKAGE_H

#include "TinyPackage.h"

#include <functional>

namespace par::test {

/// The tiny model of a mesh for GPUs, with one of the schedules of TinyCudaProgram.c.
nlohmann::json cudaManifest(int dp, int tp, const char *schedule = "train");

/// With PTX, kernels and program.
void writeCudaPackage(const std::string &folder, nlohmann::json manifest);

/// A file of bytes as data.
std::string tinyData();

/// A mesh and one of the schedules of TinyCudaProgram.c.
struct CudaMesh {
  int dp, tp;
  const char *schedule;
};
std::string nameOf(const CudaMesh &mesh);

/// Four steps of the mesh on data.txt of `folder`, on a CPU and, by `run(flags, environment)`, as tiny.par on
/// GPUs: the same bits of parameters and metrics in three orders of execution. `run` expects its exit.
void expectStepsOfTheCpu(const TemporaryFolder &folder, const CudaMesh &mesh,
                         const std::function<void(const std::string &, const std::string &)> &run);

} // namespace par::test
#endif
