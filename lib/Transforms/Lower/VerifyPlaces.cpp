//===- VerifyPlaces.cpp - buffers that live at once have no byte in common ------------------------------===//
#include "VerifyPlaces.h"
#include "par/Dialect/Rank/Analysis/Liveness.h"
#include "par/Target/Target.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace mlir;
using namespace mlir::par;
using rank::Lifetime;

namespace {
/// Bytes of one memory while something owns them.
struct Place {
  Operation *owner; ///< rank.alloc, rank.slot, or the function that has buffers there
  int64_t offset, bytes;
  Lifetime lifetime;

  int64_t end() const { return offset + bytes; }
};

/// Places of one memory; lifetimes count `points` of one program.
class Places {
public:
  Places(const Target &target, StringRef memory, StringRef point)
      : target(target), memory(memory), point(point) {}

  /// `limit` is the size of the memory, which `holder` says; none where it does not.
  LogicalResult add(Place place, std::optional<int64_t> limit, Operation *holder) {
    if (place.offset % target.limits.alignment)
      return place.owner->emitOpError("rank-verify-program: offset ")
             << place.offset << " in " << memory << ", expected a multiple of " << target.limits.alignment;
    if (!limit || place.end() > *limit) {
      InFlightDiagnostic error = place.owner->emitOpError("rank-verify-program: bytes ")
                                 << place.offset << " to " << place.end() << " of " << memory
                                 << ", which has ";
      limit ? error << *limit << " bytes" : error << "no size; run rank-plan-memory";
      error.attachNote(holder->getLoc()) << "the size is said here";
      return error;
    }
    if (place.bytes > 0 && !place.lifetime.isEmpty())
      places.push_back(place);
    return success();
  }

  /// In the order of time, those that live now by offset: only neighbours can overlap.
  LogicalResult verify() {
    llvm::stable_sort(places,
                      [](const Place &a, const Place &b) { return a.lifetime.begin < b.lifetime.begin; });
    auto endsLater = [](const Place *a, const Place *b) { return a->lifetime.end > b->lifetime.end; };
    std::priority_queue<const Place *, std::vector<const Place *>, decltype(endsLater)> ends(endsLater);
    std::map<int64_t, const Place *> live;
    for (const Place &place : places) {
      for (; !ends.empty() && ends.top()->lifetime.end < place.lifetime.begin; ends.pop())
        live.erase(ends.top()->offset);
      auto next = live.lower_bound(place.offset);
      if (next != live.end() && next->second->offset < place.end())
        return report(place, *next->second);
      if (next != live.begin() && std::prev(next)->second->end() > place.offset)
        return report(place, *std::prev(next)->second);
      live.emplace(place.offset, &place);
      ends.push(&place);
    }
    return success();
  }

private:
  void describe(Diagnostic &text, const Place &place) {
    text << "bytes " << place.offset << " to " << place.end() << " of " << memory << " from " << point << " "
         << place.lifetime.begin << " to " << place.lifetime.end;
  }

  LogicalResult report(const Place &place, const Place &other) {
    InFlightDiagnostic error = place.owner->emitOpError("rank-verify-program: has ");
    describe(*error.getUnderlyingDiagnostic(), place);
    error << ", where another buffer lives";
    Diagnostic &note = error.attachNote(other.owner->getLoc()) << "the other has ";
    describe(note, other);
    return error;
  }

  const Target &target;
  StringRef memory, point;
  std::vector<Place> places;
};

class PlaceVerifier {
public:
  PlaceVerifier(ModuleOp module, const SymbolTable &symbols, const Target &target)
      : module(module), symbols(symbols), target(target) {}

  LogicalResult run() {
    for (auto function : module.getOps<rank::FuncOp>())
      if (failed(verifyFunction(function)))
        return failure();
    for (auto schedule : module.getOps<rank::ScheduleOp>())
      if (failed(collectShared(schedule)))
        return failure();
    for (auto schedule : module.getOps<rank::ScheduleOp>())
      if (failed(verifySchedule(schedule)))
        return failure();
    return success();
  }

private:
  /// Bytes of the other arena that a function's own buffers take.
  struct Span {
    int64_t begin = 0, end = 0;
  };

  LogicalResult verifyFunction(rank::FuncOp function) {
    rank::FunctionLiveness liveness(function);
    Places frame(target, "the frame", "op"), pinned(target, "the function's pinned memory", "op");
    Span span;
    for (rank::FunctionLiveness::Local local : liveness.getLocals()) {
      if (!local.alloc.getOffset())
        return local.alloc.emitOpError("rank-verify-program: has no offset; run rank-plan-memory");
      if (failed(verifySpace(local.alloc, local.alloc.getType())))
        return failure();
      Place place{local.alloc, static_cast<int64_t>(*local.alloc.getOffset()),
                  local.alloc.getType().getBytes(), local.lifetime};
      bool onDevice = rank::isOnDevice(local.alloc.getBuffer());
      if (!onDevice)
        span = {span.end ? std::min(span.begin, place.offset) : place.offset,
                std::max(span.end, place.end())};
      if (failed(onDevice ? frame.add(place, function.getFrame(), function)
                          : pinned.add(place, place.end(), function)))
        return failure();
    }
    if (span.end)
      spans[function] = span;
    return success(succeeded(frame.verify()) && succeeded(pinned.verify()) &&
                   succeeded(verifyCallees(function)));
  }

  LogicalResult verifySpace(Operation *op, rank::BufferType buffer) {
    if (llvm::is_contained(target.limits.spaces, buffer.getSpace()))
      return success();
    return op->emitOpError("rank-verify-program: lies in ")
           << stringifySpace(buffer.getSpace()) << " memory, which target " << getName(target.kind)
           << " does not have; offload nothing";
  }

  LogicalResult verifyCallees(rank::FuncOp function) {
    for (auto call : function.getOps<rank::CallOp>()) {
      auto callee = symbols.lookup<rank::FuncOp>(call.getCalleeAttr().getAttr());
      for (auto alloc : callee.getOps<rank::AllocOp>())
        if (!rank::isOnDevice(alloc.getBuffer())) {
          InFlightDiagnostic error = call.emitOpError("rank-verify-program: calls a function with pinned "
                                                      "buffers, which only actions may: theirs lie at one "
                                                      "place");
          error.attachNote(alloc.getLoc()) << "the buffer";
          return error;
        }
    }
    return success();
  }

  /// What the runtime finds at one place whatever schedule it runs; it may read a step's outputs after
  /// another schedule.
  static bool isShared(rank::SlotOp slot) {
    auto schedule = cast<rank::ScheduleOp>(slot->getParentOp());
    return rank::isFilled(slot) ||
           (slot.getKind() == rank::SlotKind::Output && schedule.getPurpose() == rank::Purpose::Train);
  }

  static int64_t getStage(rank::ScheduleOp schedule) {
    return static_cast<int64_t>(schedule.getStage().value_or(0));
  }

  LogicalResult collectShared(rank::ScheduleOp schedule) {
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (!slot.getOffset())
        return slot.emitOpError("rank-verify-program: has no offset; run rank-plan-memory");
      if (failed(verifySpace(slot, slot.getType())))
        return failure();
      if (!isShared(slot))
        continue;
      rank::SlotOp known = shared[getStage(schedule)].try_emplace(slot.getIdentity(), slot).first->second;
      if (known.getOffset() == slot.getOffset() && known.getType() == slot.getType())
        continue;
      InFlightDiagnostic error = slot.emitOpError("rank-verify-program: ")
                                 << slot.getType() << " at " << *slot.getOffset()
                                 << ", but another schedule has " << known.getType() << " at "
                                 << *known.getOffset();
      error.attachNote(known.getLoc()) << "there";
      return error;
    }
    return success();
  }

  LogicalResult verifySchedule(rank::ScheduleOp schedule) {
    rank::ScheduleLiveness liveness(schedule);
    Places arena(target, "the arena", "entry"), pinned(target, "pinned memory", "entry");
    Lifetime always{0, liveness.countPoints() - 1};
    auto add = [&](rank::SlotOp slot, Lifetime lifetime) {
      Place place{slot, static_cast<int64_t>(*slot.getOffset()), slot.getType().getBytes(), lifetime};
      return rank::isOnDevice(slot.getBuffer()) ? arena.add(place, schedule.getPeakBytes(), schedule)
                                                : pinned.add(place, schedule.getHostPeakBytes(), schedule);
    };
    // State that this schedule does not know is there all the same.
    llvm::StringSet<> own;
    for (auto slot : schedule.getOps<rank::SlotOp>())
      if (isShared(slot))
        own.insert(slot.getIdentity());
    for (auto &[identity, slot] : shared[getStage(schedule)])
      if (!own.contains(identity) && failed(add(slot, always)))
        return failure();
    for (auto slot : schedule.getOps<rank::SlotOp>())
      if (failed(add(slot, isShared(slot) ? always : liveness.get(slot))))
        return failure();
    for (rank::ActionOp action : liveness.getActions()) {
      auto callee = symbols.lookup<rank::FuncOp>(action.getCalleeAttr().getAttr());
      Span span = spans.lookup(callee);
      int64_t position = liveness.getPosition(action);
      if (span.end && failed(pinned.add({callee, span.begin, span.end - span.begin, {position, position}},
                                        schedule.getHostPeakBytes(), schedule)))
        return failure();
    }
    return success(succeeded(arena.verify()) && succeeded(pinned.verify()));
  }

  ModuleOp module;
  const SymbolTable &symbols;
  const Target &target;
  std::map<int64_t, std::map<std::string, rank::SlotOp>> shared; ///< by stage and identity
  llvm::DenseMap<Operation *, Span> spans;                       ///< of functions that have pinned buffers
};
} // namespace

LogicalResult par::verifyPlaces(ModuleOp module, const SymbolTable &symbols) {
  const Target *target = getTarget(module);
  return success(target && succeeded(PlaceVerifier(module, symbols, *target).run()));
}
