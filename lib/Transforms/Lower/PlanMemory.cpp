//===- PlanMemory.cpp - gives every buffer its offset ---------------------------------------------------===//
#include "Packing.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/Analysis/Liveness.h"
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_PLANMEMORY
#include "par/Target/Target.h"
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

using rank::CategoryBytes;
using rank::kCategories;

/// `most` is at least `live` and, besides, what is live inside a callee.
static void raise(CategoryBytes &most, const CategoryBytes &live, const CategoryBytes &inside = {}) {
  for (unsigned category = 0; category < kCategories; ++category)
    most[category] = std::max(most[category], live[category] + inside[category]);
}

namespace {
struct FunctionPlan {
  int64_t frame = 0;
  int64_t host = 0; ///< bytes of its buffers in host memory
  CategoryBytes most{};
};

/// What all schedules of a stage have in common, which is in `schedule`, the first one.
struct Bottom {
  rank::ScheduleOp schedule;
  int64_t end = 0, hostEnd = 0;
  CategoryBytes categories{};
  std::map<std::string, rank::SlotOp> slots;
};

struct PlanMemory : par::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    target = getTarget(module);
    if (!target)
      return signalPassFailure();
    symbols.emplace(module);
    for (auto function : module.getOps<rank::FuncOp>())
      planFunction(function);
    // What a step has lies at the bottom.
    SmallVector<rank::ScheduleOp> schedules(module.getOps<rank::ScheduleOp>());
    llvm::stable_sort(schedules, [](auto a, auto b) { return a.getPurpose() < b.getPurpose(); });
    for (rank::ScheduleOp schedule : schedules)
      if (failed(planSchedule(schedule)))
        return signalPassFailure();
    if (failed(placeHostBuffers(module)))
      return signalPassFailure();
  }

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  const FunctionPlan &planFunction(rank::FuncOp function) {
    auto found = plans.find(function);
    if (found != plans.end())
      return found->second;
    for (auto call : function.getOps<rank::CallOp>()) {
      auto callee = symbols->lookup<rank::FuncOp>(call.getCallee());
      call.getFrame().setType(rank::BufferType::get(&getContext(), planFunction(callee).frame));
    }
    rank::FunctionLiveness liveness(function);
    FunctionPlan plan;
    plan.frame = packLocals(liveness, /*onHost=*/false);
    plan.host = packLocals(liveness, /*onHost=*/true);
    function.setFrame(plan.frame);
    plan.most = measureCategories(function, liveness);
    return plans.try_emplace(function, plan).first->second;
  }

  /// Packs a function's own buffers in one of the two memories by lifetime; the bytes that they take.
  int64_t packLocals(const rank::FunctionLiveness &liveness, bool onHost) const {
    SmallVector<rank::AllocOp> allocs;
    std::vector<Interval> intervals;
    for (rank::FunctionLiveness::Local local : liveness.getLocals()) {
      if (rank::isOnDevice(local.alloc.getBuffer()) == onHost)
        continue;
      allocs.push_back(local.alloc);
      intervals.push_back({local.alloc.getType().getBytes(), local.lifetime.begin, local.lifetime.end});
    }
    int64_t peak = packIntervals(intervals, target->limits.alignment).peak;
    for (auto [alloc, interval] : llvm::zip(allocs, intervals))
      alloc.setOffset(interval.offset);
    return peak;
  }

  /// What is live of every category at most, callees included.
  CategoryBytes measureCategories(rank::FuncOp function, const rank::FunctionLiveness &liveness) {
    rank::LiveBytes bytes(liveness.countPoints());
    for (rank::FunctionLiveness::Local local : liveness.getLocals())
      if (rank::isOnDevice(local.alloc.getBuffer()) && !local.isFrame)
        bytes.add(local.alloc.getCategory(), local.alloc.getType().getBytes(), local.lifetime);
    CategoryBytes most{};
    std::vector<CategoryBytes> live = bytes.count();
    for (Operation &op : function.getBody().front()) {
      auto call = dyn_cast<rank::CallOp>(op);
      raise(most, live[liveness.getPosition(&op)],
            call ? planFunction(symbols->lookup<rank::FuncOp>(call.getCallee())).most : CategoryBytes{});
    }
    return most;
  }

  //===--------------------------------------------------------------------===//
  // Schedule
  //===--------------------------------------------------------------------===//

  /// Slots that outlive a step or that the runtime fills lie at the bottom, where every schedule finds them;
  /// all others are packed above by lifetime.
  LogicalResult planSchedule(rank::ScheduleOp schedule) {
    rank::ScheduleLiveness liveness(schedule);
    for (auto action : schedule.getOps<rank::ActionOp>()) {
      auto callee = symbols->lookup<rank::FuncOp>(action.getCallee());
      action.getFrame().setType(rank::BufferType::get(&getContext(), planFunction(callee).frame));
    }
    bottom = &bottoms[static_cast<int64_t>(schedule.getStage().value_or(0))];
    bool first = !bottom->schedule;
    if (first)
      bottom->schedule = schedule;
    SmallVector<rank::SlotOp> moving;
    std::vector<Interval> intervals;
    int64_t end = first ? 0 : bottom->end;
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (!rank::isOnDevice(slot.getBuffer())) {
        placeOnHost(slot);
        continue;
      }
      if (isShared(slot, first)) {
        if (failed(first ? addToBottom(slot, end) : findInBottom(slot)))
          return failure();
        continue;
      }
      rank::Lifetime lifetime = liveness.get(slot);
      moving.push_back(slot);
      intervals.push_back({slot.getType().getBytes(), lifetime.begin, lifetime.end});
    }
    if (first)
      bottom->end = end;
    int64_t base = target->align(bottom->end);
    Packing packing = packIntervals(intervals, target->limits.alignment);
    // Where all of them are empty, they lie nowhere in particular, but within what is used.
    for (auto [slot, interval] : llvm::zip(moving, intervals))
      slot.setOffset(packing.peak > 0 ? base + interval.offset : 0);
    schedule.setPeakBytes(packing.peak > 0 ? base + packing.peak : bottom->end);
    schedule.setLowerBound(base + packing.lowerBound);
    if (bottom->hostEnd)
      schedule.setHostPeakBytes(bottom->hostEnd);
    writeCategories(schedule, liveness, moving, bottom->categories);
    return success();
  }

  /// Outputs of the first schedule are at the bottom too: the runtime may read them after another schedule.
  static bool isShared(rank::SlotOp slot, bool first) {
    return rank::isFilled(slot) || (first && slot.getKind() == rank::SlotKind::Output);
  }

  /// Above the variables, when all of them have their places. Functions that actions call take turns, so
  /// theirs lie at one place; a function that others call has none.
  LogicalResult placeHostBuffers(ModuleOp module) {
    int64_t base = 0;
    for (auto &[stage, each] : bottoms)
      base = std::max(base, target->align(each.hostEnd));
    for (auto function : module.getOps<rank::FuncOp>()) {
      for (auto call : function.getOps<rank::CallOp>())
        if (planFunction(symbols->lookup<rank::FuncOp>(call.getCallee())).host)
          return call.emitOpError(
              "rank-plan-memory: calls a function with buffers in host memory; only actions may");
      for (auto alloc : function.getOps<rank::AllocOp>())
        if (!rank::isOnDevice(alloc.getBuffer()))
          alloc.setOffset(base + *alloc.getOffset());
    }
    for (auto schedule : module.getOps<rank::ScheduleOp>()) {
      int64_t most = 0;
      for (auto action : schedule.getOps<rank::ActionOp>())
        most = std::max(most, planFunction(symbols->lookup<rank::FuncOp>(action.getCallee())).host);
      if (most)
        schedule.setHostPeakBytes(base + most);
    }
    return success();
  }

  /// The host arena's variables, one after the other.
  void placeOnHost(rank::SlotOp slot) {
    auto known = bottom->slots.find(slot.getIdentity());
    if (known != bottom->slots.end()) {
      slot.setOffset(*known->second.getOffset());
      return;
    }
    slot.setOffset(target->align(bottom->hostEnd));
    bottom->hostEnd = *slot.getOffset() + slot.getType().getBytes();
    bottom->slots[slot.getIdentity()] = slot;
  }

  LogicalResult addToBottom(rank::SlotOp slot, int64_t &end) {
    slot.setOffset(target->align(end));
    end = *slot.getOffset() + slot.getType().getBytes();
    bottom->categories[static_cast<unsigned>(slot.getCategory())] += slot.getType().getBytes();
    bottom->slots[slot.getIdentity()] = slot;
    return success();
  }

  LogicalResult findInBottom(rank::SlotOp slot) {
    auto known = bottom->slots.find(slot.getIdentity());
    if (known == bottom->slots.end()) {
      InFlightDiagnostic error = slot.emitOpError("rank-plan-memory: the first schedule has no ")
                                 << slot.getIdentity() << "; all schedules share its state";
      error.attachNote(bottom->schedule.getLoc()) << "the first schedule";
      return error;
    }
    if (known->second.getType() != slot.getType() || known->second.getSharding() != slot.getSharding()) {
      InFlightDiagnostic error =
          slot.emitOpError("rank-plan-memory: has another type or sharding than in the first schedule");
      error.attachNote(known->second.getLoc()) << "there";
      return error;
    }
    slot.setOffset(*known->second.getOffset());
    return success();
  }

  void writeCategories(rank::ScheduleOp schedule, const rank::ScheduleLiveness &liveness,
                       ArrayRef<rank::SlotOp> moving, const CategoryBytes &persistent) {
    rank::LiveBytes bytes(liveness.countPoints());
    for (rank::SlotOp slot : moving)
      if (slot.getKind() != rank::SlotKind::Frame)
        bytes.add(slot.getCategory(), slot.getType().getBytes(), liveness.get(slot));
    for (unsigned category = 0; category < kCategories; ++category)
      bytes.add(static_cast<rank::Category>(category), persistent[category], {0, liveness.countPoints() - 1});
    std::vector<CategoryBytes> live = bytes.count();
    CategoryBytes most = persistent;
    for (rank::ActionOp action : liveness.getActions())
      raise(most, live[liveness.getPosition(action)],
            planFunction(symbols->lookup<rank::FuncOp>(action.getCallee())).most);
    Builder builder(&getContext());
    SmallVector<NamedAttribute> entries;
    for (unsigned category = 0; category < kCategories; ++category)
      entries.push_back(builder.getNamedAttr(rank::stringifyCategory(static_cast<rank::Category>(category)),
                                             builder.getI64IntegerAttr(most[category])));
    schedule.setArenaBytesAttr(builder.getDictionaryAttr(entries));
  }

  const Target *target = nullptr;
  std::optional<SymbolTable> symbols;
  std::map<Operation *, FunctionPlan> plans;
  std::map<int64_t, Bottom> bottoms; ///< by stage
  Bottom *bottom = nullptr;          ///< of the schedule that is planned
};
} // namespace
