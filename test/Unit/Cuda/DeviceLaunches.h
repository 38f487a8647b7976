/// Ways to start ranks that compute on GPUs, for the conformance suites of their collectives and messages.
#ifndef PAR_TEST_CUDA_DEVICELAUNCHES_H
#define PAR_TEST_CUDA_DEVICELAUNCHES_H

#include "Standin.h"
#include "comm/Transport.h"
#include "cuda/CudaDevice.h"

#include <functional>

namespace par::test {

using OnRank = std::function<void(comm::Transport &, cuda::CudaDevice &, int rank)>;

struct DeviceLaunch {
  const char *name;
  /// Runs `body` on every rank of a new world, each a thread with a device.
  void (*launch)(int size, const OnRank &body);
};

const std::vector<DeviceLaunch> &deviceLaunches();

/// Tests that run with every one of them.
class OnDevices : public Standin, public testing::WithParamInterface<size_t> {
protected:
  OnDevices();
  /// Order of execution, for what is launched from now on.
  void draw(int seed);
  void launch(int size, const OnRank &body) const { deviceLaunches()[GetParam()].launch(size, body); }
};

/// "local"
std::string nameOfLaunch(const testing::TestParamInfo<size_t> &info);

} // namespace par::test

#define PAR_INSTANTIATE_ON_DEVICES(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(Cuda, suite, testing::Range(size_t(0), par::test::deviceLaunches().size()),       \
                           par::test::nameOfLaunch)

#endif
