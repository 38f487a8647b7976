/// Plans of cuDNN that a package brings along: made when it was compiled, on a machine without a GPU.
#ifndef PAR_CUDA_CUDNN_STOREDPLANS_H
#define PAR_CUDA_CUDNN_STOREDPLANS_H

#include "par/io/Status.h"

#include <string>
#include <vector>

namespace par::cuda {

/// What a plan is for, beside its graph. It is no good for anything else: it has a compiled kernel in it, and
/// cuDNN reads only what the same version wrote.
struct PlanBasis {
  std::string cudnn;  ///< "9.19.0"
  int chip = 0;       ///< 90: sm_90
  int processors = 0; ///< multiprocessors, by which work is divided

  bool operator==(const PlanBasis &other) const {
    return cudnn == other.cudnn && chip == other.chip && processors == other.processors;
  }
  /// "cuDNN 9.19.0 for sm_90 with 132 multiprocessors"
  std::string describe() const;
};

/// A package's file `program0.cudnn.json`.
struct StoredPlans {
  PlanBasis basis;
  std::vector<std::string> plans; ///< of the attentions of the program's list, each as cuDNN wrote it down
};

std::string print(const StoredPlans &stored);
/// Error where the text is not what `print` makes. `name`: of the file, for messages.
io::Status parse(const std::string &name, const std::string &text, StoredPlans &stored);

} // namespace par::cuda
#endif
