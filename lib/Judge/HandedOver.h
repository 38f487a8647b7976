//===- HandedOver.h - what chunk functions give each other -------------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_HANDEDOVER_H
#define PAR_LIB_JUDGE_HANDEDOVER_H

#include "par/Dialect/Par/IR/Places.h"
#include <map>

namespace mlir::par {

/// A residual goes to a later phase of its chunk, a boundary to the next chunk or, a cotangent, to the one
/// before.
template <typename T>
class HandedOver {
public:
  void give(func::FuncOp function, unsigned result, const T &value) {
    if (std::optional<int64_t> residual = getResultResidual(function, result))
      residuals[{getChunk(function), *residual}] = value;
    if (std::optional<int64_t> boundary = getResultBoundary(function, result))
      boundaries[{getDirection(function), getChunk(function), *boundary}] = value;
  }

  /// Null: nothing, or nothing yet.
  const T *find(func::FuncOp function, unsigned argument) const {
    int64_t chunk = getChunk(function);
    if (std::optional<int64_t> number = getResidual(function, argument))
      return find(residuals, std::pair(chunk, *number));
    std::optional<int64_t> number = getBoundary(function, argument);
    int64_t sender = chunk + (isBackward(getPhase(function).getPhase()) ? 1 : -1);
    return number ? find(boundaries, std::tuple(getDirection(function), sender, *number)) : nullptr;
  }

  /// Chunk functions of a module, who hands something over before who gets it: forward ones from the first
  /// chunk on, backward ones from the last.
  static SmallVector<func::FuncOp> sortFunctions(ModuleOp module) {
    std::map<std::pair<bool, int64_t>, SmallVector<func::FuncOp>> ordered;
    for (auto function : module.getOps<func::FuncOp>())
      if (PhaseAttr phase = getPhase(function)) {
        bool backwards = isBackward(phase.getPhase());
        ordered[{backwards, backwards ? -getChunk(function) : getChunk(function)}].push_back(function);
      }
    SmallVector<func::FuncOp> functions;
    for (const auto &[key, some] : ordered)
      functions.append(some);
    return functions;
  }

private:
  /// Phases that send boundaries to each other.
  static Phase getDirection(func::FuncOp function) {
    Phase phase = getPhase(function).getPhase();
    return isBackward(phase) ? Phase::Backward : phase;
  }

  template <typename Key>
  static const T *find(const std::map<Key, T> &values, const Key &key) {
    auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  }

  std::map<std::pair<int64_t, int64_t>, T> residuals;          ///< by chunk and number
  std::map<std::tuple<Phase, int64_t, int64_t>, T> boundaries; ///< by phase, chunk and number
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_HANDEDOVER_H
