/// Plans of cuDNN for packages, made where they are compiled.
#ifndef PAR_CUDNNPLANS_H
#define PAR_CUDNNPLANS_H

#include "par/io/Status.h"

#include <string>

namespace par::cuda {

/// Of the file that has them, in place of the program's own: "program0.cudnn.json" beside "program0.so".
constexpr const char *cudnnPlansExtension = ".cudnn.json";

/// Lets the cuDNN of this machine plan the attention of a program, for a chip ("sm_90") that need not be
/// here: no GPU and no driver is used. `program`: its entry in the manifest's list `programs`, as JSON.
/// `stored`: text of that file (cuda/cudnn/StoredPlans.h). Error where
/// there is no attention for cuDNN in the list, no cuDNN here, or where it does not take one. A third of a
/// second each.
io::Status planAttentionForPackage(const std::string &program, const std::string &chip, std::string &stored);

} // namespace par::cuda
#endif
