/// Packages of TinyCudaProgram: the tiny model for GPUs, with kernels that the stand-in runs.
#ifndef PAR_TEST_CUDA_TINYCUDAPACKAGE_H
#define PAR_TEST_CUDA_TINYCUDAPACKAGE_H

#include "TinyPackage.h"

namespace par::test {

/// The tiny model of a mesh for GPUs, with one of the schedules of TinyCudaProgram.c.
nlohmann::json cudaManifest(int dp, int tp, const char *schedule = "train");

/// With PTX, kernels and program.
void writeCudaPackage(const std::string &folder, nlohmann::json manifest);

/// A file of bytes as data.
std::string tinyData();

} // namespace par::test
#endif
