/// A rank's variables before the first step: zeros, initial values, or its slices of a file.
#ifndef PAR_CORE_VARIABLES_H
#define PAR_CORE_VARIABLES_H

#include "core/Arenas.h"
#include "par/io/Weights.h"

namespace par::rt {

/// The parameters' file names and shapes, each once.
std::vector<io::NamedShape> parameterFiles(const Program &program);

/// Layout of a variable's shard on a rank, with the strides of its file.
io::ShardLayout layoutOf(const Manifest &manifest, const Variable &variable, int rank);

/// Writes all variables of a rank. Padding is zero. `weights` may be null: initial values from the seed then.
void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas, const io::Weights *weights,
                         uint64_t seed);

} // namespace par::rt
#endif
