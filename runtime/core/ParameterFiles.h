/// Parameters in the tensors of a model's files.
#ifndef PAR_CORE_PARAMETERFILES_H
#define PAR_CORE_PARAMETERFILES_H

#include "core/Manifest.h"
#include "par/io/FileTensors.h"

namespace par::rt {

/// The tensors, and the variables that they are made of.
struct ParameterFiles {
  std::vector<const Variable *> variables;
  std::vector<io::PlacedVariable> places; ///< of the variables, by number
  std::vector<io::FileTensor> tensors;
};

/// The tensors that these parameters, masters or gradients are in. Throws Error: one has no place in files,
/// so that `what` ("--weights cannot load it") is so, with a remedy beside giving it one; two contradict each
/// other.
ParameterFiles filesOf(const Manifest &manifest, std::vector<const Variable *> variables,
                       const std::string &what, const std::string &remedy);

/// Of all parameters.
ParameterFiles parameterFiles(const Manifest &manifest, const std::string &what, const std::string &remedy);

/// Throws Error when an element of a tensor is in no variable, or in two.
void checkComplete(const Manifest &manifest, const ParameterFiles &files);

} // namespace par::rt
#endif
