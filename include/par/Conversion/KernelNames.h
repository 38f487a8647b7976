//===- KernelNames.h - which kernels of a program are one function ---------------------------*- C++ -*-===//
#ifndef PAR_CONVERSION_KERNELNAMES_H
#define PAR_CONVERSION_KERNELNAMES_H

#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Names of functions by rank.kernel, rank.gemm or work of a library.
using KernelNames = llvm::DenseMap<Operation *, std::string>;

/// Kernels are what the target writes functions for: every rank.kernel and, where there is a device's
/// program, all work of libraries and the epilogue of every rank.gemm that has one (separateEpilogue). Those
/// of one body have one name, the number of the body in the order of the module. `see` is called for the
/// first op of each; it may change the body of what is no rank.gemm. Fails where `see` does.
FailureOr<KernelNames> nameKernels(ModuleOp module,
                                   function_ref<LogicalResult(rank::WorkOpInterface, StringRef name)> see);

} // namespace mlir::par

#endif // PAR_CONVERSION_KERNELNAMES_H
