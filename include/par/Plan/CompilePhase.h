//===- CompilePhase.h - the phases of a compilation -------------------------------------------*- C++ -*-===//
#ifndef PAR_PLAN_COMPILEPHASE_H
#define PAR_PLAN_COMPILEPHASE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::par {

/// In their order. Cut is a phase of plans with a pipeline alone, Overlap of those with overlap; what `emit`
/// makes is no graph to go on with.
enum class CompilePhase { Import, Annotate, Propagate, Cut, Differentiate, Partition, Overlap, Lower, Emit };

/// `--from` and `--to` name them so: every phase but emit.
llvm::ArrayRef<llvm::StringLiteral> getPhaseNames();
llvm::StringRef getName(CompilePhase phase);
/// Nothing for other names, and for emit.
std::optional<CompilePhase> findPhase(llvm::StringRef name);

} // namespace mlir::par

#endif // PAR_PLAN_COMPILEPHASE_H
