/// Weights of losses, as a run gives them.
#ifndef PAR_IO_LOSSWEIGHTS_H
#define PAR_IO_LOSSWEIGHTS_H

#include "par/io/Status.h"

#include <map>
#include <string>

namespace par::io {

/// Weights by the name of the loss; "loss" is the main one.
using LossWeights = std::map<std::string, double>;

/// Reads "NAME=X" into `weights`. The error follows the flag's name.
Status addLossWeight(const std::string &text, LossWeights &weights);

/// Refuses weights of losses that are not in `known`, those of the model `place`.
Status checkLossWeights(const LossWeights &given, const LossWeights &known, const std::string &place);

} // namespace par::io
#endif
