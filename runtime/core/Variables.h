/// A rank's variables before the first step: zeros, initial values, or its slices of a file.
#ifndef PAR_CORE_VARIABLES_H
#define PAR_CORE_VARIABLES_H

#include "core/Arenas.h"
#include "par/io/Weights.h"

namespace par::rt {

/// A variable's shard on a rank.
io::Shard shardOf(const Manifest &manifest, const Variable &variable, int rank);

/// Where parameters come from.
struct InitialValues {
  const io::Weights *weights = nullptr; ///< null: initial values from the seed
  uint64_t seed = 0;
  bool allowNonfinite = false; ///< else weights that are NaN or infinite are refused
};

/// Writes all variables of a rank, worked out by so many threads. Padding is zero. Throws Error.
void initialiseVariables(const Manifest &manifest, int rank, const Arenas &arenas,
                         const InitialValues &values, int threads);

} // namespace par::rt
#endif
