/// A GPU of its own for every rank that is a process.
#ifndef PAR_CORE_GPUASSIGNMENT_H
#define PAR_CORE_GPUASSIGNMENT_H

#include "core/Introduction.h"

namespace par::rt {

/// By rank the number of its GPU, as its process counts them: the first that no lower rank of its machine
/// has. So it does not matter whether a launcher shows all GPUs to each process, or to each its own. -1:
/// there is none left. The same on all ranks.
std::vector<int> assignGpus(const std::vector<Introduction> &all);

/// Empty, or which rank has none.
std::string gpuProblem(const std::vector<Introduction> &all, const std::vector<int> &gpus,
                       const std::string &package);

} // namespace par::rt
#endif
