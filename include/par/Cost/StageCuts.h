//===- StageCuts.h - where a model is cut into chunks -----------------------------------------*- C++ -*-===//
#ifndef PAR_COST_STAGECUTS_H
#define PAR_COST_STAGECUTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::par {

/// The first unit of every chunk but the first, where units are neighbours in the order of the model and
/// `seconds` are theirs: the slowest chunk is as short as can be, and among such cuts the sum of squares of
/// the chunks' times is least, which makes all others even. At least as many units as chunks. Quadratic in
/// units (the partition of a line: Bokhari, IEEE Trans. Computers 37, 1988).
std::vector<int64_t> chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks);

/// Whether a chunk may be made of the units from `begin` to before `end`.
using MayBeChunk = llvm::function_ref<bool(int64_t chunk, int64_t begin, int64_t end)>;
/// The same among the cuts of which every chunk may be one; nothing where there is none.
std::optional<std::vector<int64_t>> chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks,
                                                    MayBeChunk mayBe);

} // namespace mlir::par

#endif // PAR_COST_STAGECUTS_H
