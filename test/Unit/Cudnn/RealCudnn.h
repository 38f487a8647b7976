/// The cuDNN of this machine, on a driver that has no device.
#ifndef PAR_TEST_CUDNN_REALCUDNN_H
#define PAR_TEST_CUDNN_REALCUDNN_H

#include "cuda/cudnn/ExecutionPlan.h"

namespace par::test {

/// Null where there is none; `why` says so.
const cuda::Cudnn *findCudnn(std::string &why);

/// "sm_90" is an H200, "sm_80" an A100.
io::Status describeChip(const std::string &chip, cuda::Descriptor &device);

} // namespace par::test
#endif
