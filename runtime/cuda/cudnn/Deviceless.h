/// cuDNN on a machine without a GPU: it plans for one that is described to it.
#ifndef PAR_CUDA_CUDNN_DEVICELESS_H
#define PAR_CUDA_CUDNN_DEVICELESS_H

#include "cuda/cudnn/Descriptor.h"
#include "cuda/cudnn/StoredPlans.h"

namespace par::cuda {

/// Opens it once, with a driver that has no device; the same answer ever after. Such a process can use no
/// GPU.
io::Status loadCudnnWithoutDevice(const Cudnn *&functions);

/// The GPU that most have who have such a chip: an H100 or H200 (SXM) for "sm_90" and "sm_90a", an A100 for
/// "sm_80".
io::Status describeChip(const std::string &chip, Descriptor &device);
/// What plans for it are for.
PlanBasis basisOf(const Cudnn &cudnn, const std::string &chip);

} // namespace par::cuda
#endif
