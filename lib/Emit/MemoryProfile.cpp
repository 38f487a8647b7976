//===- MemoryProfile.cpp - what lies in a rank's arena during a step ------------------------------------===//
#include "par/Emit/MemoryProfile.h"
#include "WorkList.h"
#include "par/Dialect/Par/IR/Par.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {
/// What a buffer holds first.
struct Content {
  std::string name, type, slot = "";
};

class Replay {
public:
  Replay(ModuleOp module, rank::ScheduleOp schedule) : symbols(module), schedule(schedule) {}

  MemoryProfile run() {
    std::vector<rank::Lifetime> spans; // points of every entry
    for (auto entry : schedule.getOps<rank::EntryOpInterface>()) {
      int64_t begin = countPoints();
      auto action = dyn_cast<rank::ActionOp>(*entry);
      if (!action) {
        profile.points.push_back(cast<rank::ExchangeOp>(*entry).getName().str());
        spans.push_back({begin, begin});
        continue;
      }
      std::string place = action.getName().str();
      if (auto microBatch = static_cast<int64_t>(action.getMicroBatch()); microBatch >= 0)
        place += ", micro-batch " + std::to_string(microBatch);
      auto frame = action.getFrame().getDefiningOp<rank::SlotOp>();
      replay(lookup(action.getCallee()), place, getOffset(frame.getOffset()));
      spans.push_back({begin, countPoints() - 1});
    }
    addSlots(spans);
    profile.entries = std::move(spans);
    measure();
    return std::move(profile);
  }

private:
  int64_t countPoints() const { return static_cast<int64_t>(profile.points.size()); }
  rank::FuncOp lookup(StringRef name) { return symbols.lookup<rank::FuncOp>(name); }
  static int64_t getOffset(std::optional<uint64_t> offset) {
    return static_cast<int64_t>(offset.value_or(0));
  }

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// One execution with its frame at `base`.
  void replay(rank::FuncOp function, const std::string &place, int64_t base) {
    std::vector<rank::Lifetime> spans; // of every op
    for (Operation &op : function.getBody().front()) {
      int64_t begin = countPoints();
      if (auto call = dyn_cast<rank::CallOp>(op)) {
        auto frame = call.getFrame().getDefiningOp<rank::AllocOp>();
        replay(lookup(call.getCallee()), place + ", " + call.getCallee().str(),
               base + (frame ? getOffset(frame.getOffset()) : 0));
      } else if (isa<rank::WorkOpInterface, rank::CopyOp>(op)) {
        profile.points.push_back(place + ": " + getWorkClass(&op));
      }
      spans.push_back({begin, countPoints() - 1});
    }
    for (const rank::FunctionLiveness::Local &local : getLiveness(function).getLocals())
      if (!local.isFrame && rank::isOnDevice(rank::AllocOp(local.alloc).getBuffer()))
        addLocal(local, place, base, {spans[local.lifetime.begin].begin, spans[local.lifetime.end].end});
  }

  /// The lifetimes of a function that is called more than once are found once.
  const rank::FunctionLiveness &getLiveness(rank::FuncOp function) {
    return functions.try_emplace(function, function).first->second;
  }

  void addLocal(const rank::FunctionLiveness::Local &local, const std::string &place, int64_t base,
                rank::Lifetime points) {
    if (points.isEmpty())
      return;
    rank::AllocOp alloc = local.alloc;
    const Content &content = describe(alloc.getBuffer());
    profile.buffers.push_back({content.name + " (" + place + ")", "", content.type, alloc.getCategory(),
                               alloc.getType().getBytes(), base + getOffset(alloc.getOffset()), points.begin,
                               points.end});
  }

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  /// What is written to a buffer of a function first.
  const Content &describe(Value buffer) {
    auto [entry, isNew] = contents.try_emplace(buffer);
    if (!isNew)
      return entry->second;
    Content content = findContent(buffer);
    return contents[buffer] = content;
  }

  Content findContent(Value buffer) {
    Operation *first = nullptr;
    for (Operation *user : buffer.getUsers())
      if (writes(user, buffer) && (!first || user->isBeforeInBlock(first)))
        first = user;
    if (!first)
      return {"scratch", ""};
    if (auto call = dyn_cast<rank::CallOp>(first))
      return describe(getResult(call, buffer));
    if (isa<rank::CopyOp>(first))
      return {"copy", ""};
    auto work = cast<rank::WorkOpInterface>(first);
    unsigned position = llvm::find(work.getOuts(), buffer) - work.getOuts().begin();
    Operation *yield = work.getBody().front().getTerminator();
    return {getWorkClass(first), printType(yield->getOperand(position).getType())};
  }

  /// What a callee knows a buffer as that it writes.
  template <typename Op>
  Value getResult(Op call, Value buffer) {
    rank::FuncOp callee = lookup(call.getCallee());
    unsigned result = llvm::find(call.getOuts(), buffer) - call.getOuts().begin();
    return callee.getArgument(callee.getNumArguments() - callee.getResults() + result);
  }

  static bool writes(Operation *op, Value buffer) {
    return llvm::any_of(cast<rank::AccessOpInterface>(op).getAccesses(), [&](const rank::Access &access) {
      return access.kind == rank::AccessKind::Write && access.operand->get() == buffer;
    });
  }

  Content describe(rank::SlotOp slot) {
    std::string type = slot.getTensor() ? printType(*slot.getTensor()) : "";
    if (slot.getKind() != rank::SlotKind::Residual)
      return {(rank::stringifySlotKind(slot.getKind()) + " " + slot.getName()).str(), type};
    std::string residual = ("residual " + slot.getName()).str();
    for (Operation *user : slot->getUsers()) {
      auto action = dyn_cast<rank::ActionOp>(user);
      if (action && writes(action, slot.getBuffer()))
        return {"saved " + describe(getResult(action, slot.getBuffer())).name + " (" +
                    action.getName().str() + ")",
                type, residual};
    }
    return {residual, type};
  }

  //===--------------------------------------------------------------------===//
  // Slots and sums
  //===--------------------------------------------------------------------===//

  /// Residuals live from the first to the last action that has them, all else during the whole step.
  void addSlots(const std::vector<rank::Lifetime> &spans) {
    rank::ScheduleLiveness liveness(schedule);
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (slot.getKind() == rank::SlotKind::Frame || !rank::isOnDevice(slot.getBuffer()))
        continue;
      int64_t begin = 0, end = countPoints() - 1;
      if (slot.getKind() == rank::SlotKind::Residual) {
        rank::Lifetime lifetime = liveness.get(slot);
        begin = lifetime.isEmpty() ? end + 1 : spans[lifetime.begin].begin;
        end = lifetime.isEmpty() ? -1 : spans[lifetime.end].end;
      }
      Content content = describe(slot);
      profile.buffers.push_back({content.name, content.slot, content.type, slot.getCategory(),
                                 slot.getType().getBytes(), getOffset(slot.getOffset()), begin, end});
    }
  }

  void measure() {
    rank::LiveBytes bytes(countPoints());
    for (const LiveBuffer &buffer : profile.buffers)
      bytes.add(buffer.category, buffer.bytes, {buffer.begin, buffer.end});
    profile.live = bytes.count();
    for (auto [point, now] : llvm::enumerate(profile.live)) {
      int64_t sum = std::accumulate(now.begin(), now.end(), int64_t(0));
      if (sum > profile.mostLive) {
        profile.mostLive = sum;
        profile.fullest = static_cast<int64_t>(point);
      }
    }
    profile.peakBytes = static_cast<int64_t>(schedule.getPeakBytes().value_or(0));
  }

  SymbolTable symbols;
  rank::ScheduleOp schedule;
  MemoryProfile profile;
  llvm::DenseMap<Value, Content> contents;
  std::map<Operation *, rank::FunctionLiveness> functions;
};
} // namespace

std::vector<const LiveBuffer *> MemoryProfile::getLiveAtPeak() const {
  std::vector<const LiveBuffer *> found;
  for (const LiveBuffer &buffer : buffers)
    if (buffer.begin <= fullest && fullest <= buffer.end)
      found.push_back(&buffer);
  llvm::stable_sort(found, [](const LiveBuffer *a, const LiveBuffer *b) { return a->bytes > b->bytes; });
  return found;
}

std::vector<MemoryProfile> par::profileStages(ModuleOp module) {
  std::vector<MemoryProfile> stages;
  for (rank::ScheduleOp schedule : rank::findSchedules(module, rank::Purpose::Train))
    stages.push_back(Replay(module, schedule).run());
  return stages;
}
