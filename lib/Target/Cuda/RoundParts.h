//===- RoundParts.h - concatenations that are rounded part by part ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ROUNDPARTS_H
#define PAR_LIB_TARGET_CUDA_ROUNDPARTS_H

#include "mlir/IR/Block.h"
#include "mlir/Support/LLVM.h"

namespace mlir::par {

/// A kernel's composite ops become elementary ones (decomposeKernel), and a concatenation that is rounded
/// then one of rounded parts: as it stands it is a result that is written part by part, each read once.
/// Processors round the whole: there, other code would round other sums of products.
LogicalResult decomposeForDevice(Block &block);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ROUNDPARTS_H
