/// The runtime's own kernels (cuda/kernels/Combine.h), made of the source of its PTX.
#ifndef PAR_STANDIN_COMBINEKERNELS_H
#define PAR_STANDIN_COMBINEKERNELS_H

#include "par/emulation.h"

#include <string>

namespace par::standin {

/// Null: there is none of that name.
par_emulated_kernel findCombineKernel(const std::string &name);

} // namespace par::standin
#endif
