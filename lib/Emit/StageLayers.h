//===- StageLayers.h - which layers a shared function runs for --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_STAGELAYERS_H
#define PAR_LIB_EMIT_STAGELAYERS_H

#include "par/Dialect/Rank/IR/Rank.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace mlir::par {

/// Numbers of layers, by function.
using FunctionLayers = llvm::StringMap<std::set<int64_t>>;

/// Equal layers share a function. A call is of the layer whose parameters or gradients it is given, as far as
/// all of them are one layer's; what such a call calls is of that layer, too.
FunctionLayers findLayers(rank::ScheduleOp schedule, const SymbolTable &symbols);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_STAGELAYERS_H
