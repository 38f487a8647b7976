//===- StageKinds.h - stages of a pipeline that are alike -------------------------------------*- C++ -*-===//
#ifndef PAR_EMIT_STAGEKINDS_H
#define PAR_EMIT_STAGEKINDS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mlir::par {

/// Numbers of stages that are alike, rising.
struct StageKind {
  std::vector<int64_t> stages;

  /// "0", "1-14" or "2, 4-6".
  std::string print() const;
};

/// The stages from 0 to `count`, by kind; kinds in the order of their first stages.
std::vector<StageKind> groupStages(int64_t count, llvm::function_ref<bool(int64_t, int64_t)> areAlike);

/// Finds kinds by the array `memory` of a manifest: ranks of one kind hold as many bytes of each category,
/// and as many in the host's memory.
std::vector<StageKind> findMemoryKinds(const llvm::json::Array &memory);

} // namespace mlir::par

#endif // PAR_EMIT_STAGEKINDS_H
