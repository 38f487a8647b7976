/// What programs of GPUs call by number: the lists `kernels`, `products` and `attentions` of a manifest's
/// programs.
#ifndef PAR_CORE_MANIFESTWORK_H
#define PAR_CORE_MANIFESTWORK_H

#include "cuda/CudaWork.h"
#include "io/JsonNode.h"

namespace par::rt {

/// Reads and checks them: sizes that a launch or a product may have, rows that do not lie over each other.
cuda::ProgramWork parseDeviceWork(const io::JsonNode &program);

} // namespace par::rt
#endif
