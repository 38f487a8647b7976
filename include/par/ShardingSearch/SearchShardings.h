//===- SearchShardings.h - finds how parameters are best split along one axis -----------------*- C++ -*-===//
#ifndef PAR_SHARDINGSEARCH_SEARCHSHARDINGS_H
#define PAR_SHARDINGSEARCH_SEARCHSHARDINGS_H

#include "par/ShardingSearch/IntegerProgram.h"
#include "par/ShardingSearch/ShardingCosts.h"
#include "llvm/Support/Error.h"

namespace mlir::par {

struct SearchLimits {
  /// Most bytes of parameters on a rank; nothing: a twentieth above the least that there can be.
  std::optional<int64_t> parameterBytes;
  ProgramLimits program = {2000, 1e-4};
};

struct FoundShardings {
  SmallVector<Layout> layouts;      ///< by group
  SmallVector<size_t> alternatives; ///< by op
  double seconds = 0;               ///< of a step, as modelled
  double parameterBytes = 0;        ///< on a rank
  double leastBytes = 0;            ///< that parameters can take on a rank
  bool isCutOff = false;            ///< the search ended at the most branches
  double boundSeconds = 0;          ///< no layouts take less
};

/// The layouts under which a step takes the least seconds, of those within the limit.
llvm::Expected<FoundShardings> searchShardings(const ShardingProblem &problem, const DeviceRates &rates,
                                               const SearchLimits &limits);

} // namespace mlir::par

#endif // PAR_SHARDINGSEARCH_SEARCHSHARDINGS_H
