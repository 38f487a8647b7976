//===- WideStep.h - elements that are computed by whole accesses to memory --------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_KERNELS_WIDESTEP_H
#define PAR_LIB_TARGET_KERNELS_WIDESTEP_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace mlir::par {

/// True if an element is made of those at the same place.
bool readsInPlace(Operation &op);

/// Elements of the narrowest tensor of a kernel in an access of `bytes`, as far as rows of `size` elements
/// consist of such, and steps of so many are made of steps of other tensors; 1: no more than one.
int64_t findWideStep(Block &block, int64_t size, int64_t bytes);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_KERNELS_WIDESTEP_H
