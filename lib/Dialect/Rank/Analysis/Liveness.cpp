//===- Liveness.cpp - from when to when the memory of a rank program is in use --------------------------===//
#include "par/Dialect/Rank/Analysis/Liveness.h"

using namespace mlir;
using namespace mlir::par::rank;

void LiveBytes::add(Category category, int64_t bytes, Lifetime lifetime) {
  if (lifetime.isEmpty())
    return;
  changes[lifetime.begin][static_cast<unsigned>(category)] += bytes;
  changes[lifetime.end + 1][static_cast<unsigned>(category)] -= bytes;
}

std::vector<CategoryBytes> LiveBytes::count() const {
  std::vector<CategoryBytes> live(changes.begin(), std::prev(changes.end()));
  for (size_t point = 1; point < live.size(); ++point)
    for (unsigned category = 0; category < kCategories; ++category)
      live[point][category] += live[point - 1][category];
  return live;
}

FunctionLiveness::FunctionLiveness(FuncOp function) {
  for (Operation &op : function.getBody().front())
    positions.try_emplace(&op, countPoints());
  for (auto alloc : function.getOps<AllocOp>()) {
    Local local{alloc, {getPosition(alloc), getPosition(alloc)}};
    for (OpOperand &use : alloc.getBuffer().getUses()) {
      local.lifetime.end = std::max(local.lifetime.end, getPosition(getLastOp(use.getOwner())));
      auto call = dyn_cast<CallOp>(use.getOwner());
      local.isFrame |= call && &use == &call.getFrameMutable();
    }
    locals.push_back(local);
  }
}

ScheduleLiveness::ScheduleLiveness(ScheduleOp schedule) : actions(schedule.getOps<ActionOp>()) {
  for (auto entry : schedule.getOps<EntryOpInterface>())
    positions.try_emplace(entry, static_cast<int64_t>(positions.size()));
}

Lifetime ScheduleLiveness::get(SlotOp slot) const {
  int64_t behind = countPoints() - 1;
  if (isFilled(slot))
    return {0, behind};
  Lifetime lifetime{behind, -1};
  for (Operation *user : slot->getUsers()) {
    lifetime.begin = std::min(lifetime.begin, getPosition(user));
    lifetime.end = std::max(lifetime.end, getPosition(user));
  }
  if (slot.getKind() == SlotKind::Output)
    lifetime.end = behind;
  return lifetime;
}

bool par::rank::isFilled(SlotOp slot) {
  SlotKind kind = slot.getKind();
  return kind == SlotKind::Variable || kind == SlotKind::Input || kind == SlotKind::Constant;
}
