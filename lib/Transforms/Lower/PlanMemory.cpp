//===- PlanMemory.cpp - gives every buffer its offset ---------------------------------------------------===//
#include "Packing.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_PLANMEMORY
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static constexpr unsigned kCategories = 6;
/// Most bytes of every category that are live at once.
using CategoryBytes = std::array<int64_t, kCategories>;

static void raise(CategoryBytes &most, const CategoryBytes &live) {
  for (unsigned category = 0; category < kCategories; ++category)
    most[category] = std::max(most[category], live[category]);
}

namespace {
struct FunctionPlan {
  int64_t frame = 0;
  int64_t host = 0; ///< bytes of its buffers in host memory
  CategoryBytes most{};
};

/// What all schedules have in common.
struct Bottom {
  int64_t end = 0, hostEnd = 0;
  CategoryBytes categories{};
  std::map<std::string, rank::SlotOp> slots;
};

struct PlanMemory : par::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    symbols.emplace(module);
    for (auto function : module.getOps<rank::FuncOp>())
      planFunction(function);
    for (auto schedule : module.getOps<rank::ScheduleOp>())
      if (failed(planSchedule(schedule)))
        return signalPassFailure();
    if (failed(placeHostBuffers(module)))
      return signalPassFailure();
    // Entries of the manifest's lists of work and of collectives.
    Builder builder(&getContext());
    int64_t number = 0, work = 0;
    module.walk([&](Operation *op) {
      if (isa<rank::WorkOpInterface, rank::CopyOp>(op))
        op->setAttr("work", builder.getI64IntegerAttr(work++));
    });
    module.walk([&](Operation *op) {
      if (rank::isCollective(op))
        op->setAttr("number", IntegerAttr::get(IntegerType::get(&getContext(), 64), number++));
    });
  }

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  const FunctionPlan &planFunction(rank::FuncOp function) {
    auto found = plans.find(function);
    if (found != plans.end())
      return found->second;
    llvm::DenseMap<Operation *, int64_t> positions;
    for (Operation &op : function.getBody().front())
      positions.try_emplace(&op, static_cast<int64_t>(positions.size()));
    for (auto call : function.getOps<rank::CallOp>()) {
      auto callee = symbols->lookup<rank::FuncOp>(call.getCallee());
      call.getFrame().setType(rank::BufferType::get(&getContext(), planFunction(callee).frame));
    }
    LocalBuffers locals = packLocals(function, /*onHost=*/false, positions);
    FunctionPlan plan;
    plan.frame = locals.peak;
    plan.host = packLocals(function, /*onHost=*/true, positions).peak;
    function.setFrame(plan.frame);
    plan.most = measureCategories(function, locals.allocs, locals.intervals, positions);
    return plans.try_emplace(function, plan).first->second;
  }

  /// A function's own buffers in one of the two memories, packed by lifetime.
  struct LocalBuffers {
    SmallVector<rank::AllocOp> allocs;
    std::vector<Interval> intervals;
    int64_t peak = 0;
  };

  static LocalBuffers packLocals(rank::FuncOp function, bool onHost,
                                 const llvm::DenseMap<Operation *, int64_t> &positions) {
    LocalBuffers locals;
    for (auto alloc : function.getOps<rank::AllocOp>()) {
      if (alloc.getHost() != onHost)
        continue;
      Interval interval{alloc.getType().getBytes(), static_cast<int64_t>(positions.size()), -1};
      for (Operation *user : alloc->getUsers()) {
        interval.begin = std::min(interval.begin, positions.lookup(user));
        interval.end = std::max(interval.end, positions.lookup(rank::getLastOp(user)));
      }
      locals.allocs.push_back(alloc);
      locals.intervals.push_back(interval);
    }
    locals.peak = packIntervals(locals.intervals, rank::kAlignment).peak;
    for (auto [alloc, interval] : llvm::zip(locals.allocs, locals.intervals))
      alloc.setOffset(interval.offset);
    return locals;
  }

  /// Replays the function: what is live of every category at each op, callees included.
  CategoryBytes measureCategories(rank::FuncOp function, ArrayRef<rank::AllocOp> allocs,
                                  ArrayRef<Interval> intervals,
                                  const llvm::DenseMap<Operation *, int64_t> &positions) {
    SmallVector<CategoryBytes> live(positions.size(), CategoryBytes{});
    for (auto [each, interval] : llvm::zip(allocs, intervals)) {
      rank::AllocOp alloc = each;
      bool isFrame = alloc.getBuffer().hasOneUse() && isa<rank::CallOp>(*alloc->getUsers().begin()) &&
                     cast<rank::CallOp>(*alloc->getUsers().begin()).getFrame() == alloc.getBuffer();
      if (isFrame)
        continue;
      for (int64_t point = interval.begin; point <= interval.end; ++point)
        live[point][static_cast<unsigned>(alloc.getCategory())] += interval.bytes;
    }
    CategoryBytes most{};
    for (Operation &op : function.getBody().front()) {
      CategoryBytes now = live[positions.lookup(&op)];
      if (auto call = dyn_cast<rank::CallOp>(op)) {
        auto callee = symbols->lookup<rank::FuncOp>(call.getCallee());
        const CategoryBytes &inner = planFunction(callee).most;
        for (unsigned category = 0; category < kCategories; ++category)
          now[category] += inner[category];
      }
      raise(most, now);
    }
    return most;
  }

  //===--------------------------------------------------------------------===//
  // Schedule
  //===--------------------------------------------------------------------===//

  /// Slots that outlive a step or that the runtime fills lie at the bottom, where every schedule finds them;
  /// all others are packed above by lifetime.
  LogicalResult planSchedule(rank::ScheduleOp schedule) {
    SmallVector<rank::ActionOp> actions(schedule.getOps<rank::ActionOp>());
    llvm::DenseMap<Operation *, int64_t> positions;
    for (auto [position, action] : llvm::enumerate(actions)) {
      positions[action] = position;
      auto callee = symbols->lookup<rank::FuncOp>(action.getCallee());
      action.getFrame().setType(rank::BufferType::get(&getContext(), planFunction(callee).frame));
    }
    bool first = !bottom;
    if (first)
      bottom.emplace();
    SmallVector<rank::SlotOp> moving;
    std::vector<Interval> intervals;
    int64_t end = first ? 0 : bottom->end;
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (slot.getHost()) {
        placeOnHost(slot);
        continue;
      }
      if (isShared(slot, first)) {
        if (failed(first ? addToBottom(slot, end) : findInBottom(slot)))
          return failure();
        continue;
      }
      Interval interval{static_cast<int64_t>(slot.getType().getBytes()), static_cast<int64_t>(actions.size()),
                        -1};
      for (Operation *user : slot->getUsers()) {
        interval.begin = std::min(interval.begin, positions[user]);
        interval.end = std::max(interval.end, positions[user]);
      }
      // The runtime reads it when all is over.
      if (slot.getKind() == rank::SlotKind::Output)
        interval.end = static_cast<int64_t>(actions.size());
      moving.push_back(slot);
      intervals.push_back(interval);
    }
    if (first)
      bottom->end = end;
    int64_t base = rank::align(bottom->end);
    Packing packing = packIntervals(intervals, rank::kAlignment);
    for (auto [slot, interval] : llvm::zip(moving, intervals))
      slot.setOffset(base + interval.offset);
    schedule.setPeakBytes(packing.peak > 0 ? base + packing.peak : bottom->end);
    schedule.setLowerBound(base + packing.lowerBound);
    if (bottom->hostEnd)
      schedule.setHostPeakBytes(bottom->hostEnd);
    writeCategories(schedule, actions, moving, intervals, bottom->categories);
    return success();
  }

  /// Outputs of the first schedule are at the bottom too: the runtime may read them after another schedule.
  static bool isShared(rank::SlotOp slot, bool first) {
    switch (slot.getKind()) {
    case rank::SlotKind::Variable:
    case rank::SlotKind::Input:
    case rank::SlotKind::Constant:
      return true;
    case rank::SlotKind::Output:
      return first;
    case rank::SlotKind::Residual:
    case rank::SlotKind::Frame:
      return false;
    }
    return false;
  }

  static std::string getIdentity(rank::SlotOp slot) {
    std::string text;
    llvm::raw_string_ostream(text) << rank::stringifySlotKind(slot.getKind()) << " \"" << slot.getName()
                                   << "\" " << slot.getMicroBatch() << " " << slot.getValueAttr();
    return text;
  }

  /// Above the variables, when all of them have their places. Functions that actions call take turns, so
  /// theirs lie at one place; a function that others call has none.
  LogicalResult placeHostBuffers(ModuleOp module) {
    int64_t base = bottom ? rank::align(bottom->hostEnd) : 0;
    for (auto function : module.getOps<rank::FuncOp>()) {
      for (auto call : function.getOps<rank::CallOp>())
        if (planFunction(symbols->lookup<rank::FuncOp>(call.getCallee())).host)
          return call.emitOpError(
              "rank-plan-memory: calls a function with buffers in host memory; only actions may");
      for (auto alloc : function.getOps<rank::AllocOp>())
        if (alloc.getHost())
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
    auto known = bottom->slots.find(getIdentity(slot));
    if (known != bottom->slots.end()) {
      slot.setOffset(*known->second.getOffset());
      return;
    }
    slot.setOffset(rank::align(bottom->hostEnd));
    bottom->hostEnd = *slot.getOffset() + slot.getType().getBytes();
    bottom->slots[getIdentity(slot)] = slot;
  }

  LogicalResult addToBottom(rank::SlotOp slot, int64_t &end) {
    slot.setOffset(rank::align(end));
    end = *slot.getOffset() + slot.getType().getBytes();
    bottom->categories[static_cast<unsigned>(slot.getCategory())] += slot.getType().getBytes();
    bottom->slots[getIdentity(slot)] = slot;
    return success();
  }

  LogicalResult findInBottom(rank::SlotOp slot) {
    auto known = bottom->slots.find(getIdentity(slot));
    if (known == bottom->slots.end())
      return slot.emitOpError("rank-plan-memory: the first schedule has no ")
             << getIdentity(slot) << "; all schedules share its state";
    if (known->second.getType() != slot.getType() ||
        known->second->getAttr("sharding") != slot->getAttr("sharding")) {
      InFlightDiagnostic error =
          slot.emitOpError("rank-plan-memory: has another type or sharding than in the first schedule");
      error.attachNote(known->second.getLoc()) << "there";
      return error;
    }
    slot.setOffset(*known->second.getOffset());
    return success();
  }

  void writeCategories(rank::ScheduleOp schedule, ArrayRef<rank::ActionOp> actions,
                       ArrayRef<rank::SlotOp> moving, ArrayRef<Interval> intervals,
                       const CategoryBytes &persistent) {
    CategoryBytes most = persistent;
    for (auto [point, each] : llvm::enumerate(actions)) {
      rank::ActionOp action = each;
      CategoryBytes now = persistent;
      for (auto [moved, interval] : llvm::zip(moving, intervals))
        if (rank::SlotOp slot = moved; slot.getKind() != rank::SlotKind::Frame &&
                                       interval.begin <= static_cast<int64_t>(point) &&
                                       static_cast<int64_t>(point) <= interval.end)
          now[static_cast<unsigned>(slot.getCategory())] += interval.bytes;
      auto callee = symbols->lookup<rank::FuncOp>(action.getCallee());
      for (unsigned category = 0; category < kCategories; ++category)
        now[category] += planFunction(callee).most[category];
      raise(most, now);
    }
    Builder builder(&getContext());
    SmallVector<NamedAttribute> entries;
    for (unsigned category = 0; category < kCategories; ++category)
      entries.push_back(builder.getNamedAttr(rank::stringifyCategory(static_cast<rank::Category>(category)),
                                             builder.getI64IntegerAttr(most[category])));
    schedule.setArenaBytesAttr(builder.getDictionaryAttr(entries));
  }

  std::optional<SymbolTable> symbols;
  std::map<Operation *, FunctionPlan> plans;
  std::optional<Bottom> bottom;
};
} // namespace
