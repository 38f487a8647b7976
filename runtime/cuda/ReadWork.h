/// What programs of GPUs call by number: the lists `kernels`, `products` and `attentions` of a manifest's
/// programs.
#ifndef PAR_CUDA_READWORK_H
#define PAR_CUDA_READWORK_H

#include "cuda/CudaWork.h"
#include "io/JsonNode.h"

namespace par::cuda {

/// Reads and checks them: sizes that a launch or a product may have, rows that do not lie over each other.
ProgramWork parseDeviceWork(const io::JsonNode &program);

} // namespace par::cuda
#endif
