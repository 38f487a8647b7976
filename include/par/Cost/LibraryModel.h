//===- LibraryModel.h - how long devices take for ops of libraries ----------------------------*- C++ -*-===//
#ifndef PAR_COST_LIBRARYMODEL_H
#define PAR_COST_LIBRARYMODEL_H

#include "par/Cost/Machine.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Seconds of some device for what a call computes.
using DeviceTime = std::function<double(const DeviceModel &)>;
using LibraryModel = DeviceTime (*)(rank::LibraryWorkInterface work);

/// The op `op` (par.attention) has a model. One without takes as long as a kernel of its operations and
/// bytes. Before anything is compiled.
void registerLibraryModel(StringRef op, LibraryModel model);

/// Empty where the op has no model.
DeviceTime findLibraryModel(rank::LibraryWorkInterface work);

} // namespace mlir::par

#endif // PAR_COST_LIBRARYMODEL_H
