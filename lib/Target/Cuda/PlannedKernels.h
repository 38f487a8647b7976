//===- PlannedKernels.h - writers of kernels, by plan -----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_PLANNEDKERNELS_H
#define PAR_LIB_TARGET_CUDA_PLANNEDKERNELS_H

#include "KernelEntry.h"

namespace mlir::par {

/// Generic, Elementwise and Gather.
LogicalResult writeGenericKernel(const KernelTask &task);
/// Flat.
LogicalResult writeFlatKernel(const KernelTask &task);
/// Tile.
LogicalResult writeTileKernel(const KernelTask &task);
/// Row, and the first launch of RowColumn: groups of threads take rows in turns. What a row is made of is
/// loaded once, into registers.
LogicalResult writeRowKernel(const KernelTask &task);
/// LongRow, and the first launch of Total.
LogicalResult writeLongRowKernel(const KernelTask &task);
/// The first launch of Totals.
LogicalResult writeTotalsKernel(const KernelTask &task);
/// Column.
LogicalResult writeColumnKernel(const KernelTask &task);
/// Finish, for what slices have left in scratch.
LogicalResult writeFinishKernel(const KernelTask &task);

/// Fill, and Scatter behind it.
LogicalResult writeScatterKernels(const KernelTask &task);

/// Of the launch behind a kernel's.
inline std::string getFinishName(StringRef kernel) { return (kernel + "_finish").str(); }

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_PLANNEDKERNELS_H
