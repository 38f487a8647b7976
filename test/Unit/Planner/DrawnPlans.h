//===- DrawnPlans.h - random models, and random plans of them ---------------------------------*- C++ -*-===//
#ifndef PAR_TEST_UNIT_PLANNER_DRAWNPLANS_H
#define PAR_TEST_UNIT_PLANNER_DRAWNPLANS_H

#include "par/Plan/Plan.h"

#include <random>

namespace mlir::par {

/// Equal seeds draw the same, whatever the standard library's distributions do.
class Dice {
public:
  explicit Dice(uint64_t seed) : random(static_cast<uint32_t>(seed * 2654435761u + 1)) {}

  int64_t below(int64_t count) { return static_cast<int64_t>(random() % static_cast<uint64_t>(count)); }
  bool once(int64_t in) { return below(in) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int64_t>(values.size())));
  }

private:
  std::mt19937 random;
};

/// A small model of one of the families, whose tables are large beside its layers: tied or not.
struct DrawnModel {
  explicit DrawnModel(uint64_t seed);

  std::string family, config; ///< the latter: JSON
  int64_t layers = 1, heads = 2;
  bool isTied = false;
  Plan plan; ///< what a search does not decide: tokens, types, what is frozen, optimizer and target
};

/// A plan of it that par-compile may take: any schedule, mesh and stage of ZeRO.
Plan drawPlan(const DrawnModel &model, uint64_t seed);

} // namespace mlir::par

#endif // PAR_TEST_UNIT_PLANNER_DRAWNPLANS_H
