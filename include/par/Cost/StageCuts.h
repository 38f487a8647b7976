//===- StageCuts.h - where a model is cut into chunks ------------------------------------------*- C++
//-*-===//
#ifndef PAR_COST_STAGECUTS_H
#define PAR_COST_STAGECUTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mlir::par {

/// The first unit of every chunk but the first, where units are neighbours in the order of the model and
/// `seconds` are theirs: the slowest chunk is as short as can be, and among such cuts the sum of squares of
/// the chunks' times is least, which makes all others even. At least as many units as chunks. Quadratic in
/// units (the partition of a line: Bokhari, IEEE Trans. Computers 37, 1988).
std::vector<int64_t> chooseStageCuts(llvm::ArrayRef<double> seconds, int64_t chunks);

} // namespace mlir::par

#endif // PAR_COST_STAGECUTS_H
