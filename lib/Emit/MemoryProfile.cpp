//===- MemoryProfile.cpp - what lies in a rank's arena during a step ------------------------------------===//
#include "par/Emit/MemoryProfile.h"
#include "WorkList.h"
#include "par/Dialect/Par/IR/Par.h"

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
  std::string name, type;
};

class Replay {
public:
  explicit Replay(ModuleOp module) : symbols(module), schedule(*module.getOps<rank::ScheduleOp>().begin()) {}

  MemoryProfile run() {
    SmallVector<std::pair<int64_t, int64_t>> spans; // points of every action
    for (auto action : schedule.getOps<rank::ActionOp>()) {
      int64_t begin = countPoints();
      std::string place = action.getName().str();
      if (auto microBatch = static_cast<int64_t>(action.getMicroBatch()); microBatch >= 0)
        place += ", micro-batch " + std::to_string(microBatch);
      auto frame = action.getFrame().getDefiningOp<rank::SlotOp>();
      replay(lookup(action.getCallee()), place, getOffset(frame.getOffset()));
      spans.emplace_back(begin, countPoints() - 1);
    }
    addSlots(spans);
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
    llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
    for (Operation &op : function.getBody().front()) {
      int64_t begin = countPoints();
      if (auto call = dyn_cast<rank::CallOp>(op)) {
        auto frame = call.getFrame().getDefiningOp<rank::AllocOp>();
        replay(lookup(call.getCallee()), place + ", " + call.getCallee().str(),
               base + (frame ? getOffset(frame.getOffset()) : 0));
      } else if (isa<rank::WorkOpInterface, rank::CopyOp>(op)) {
        profile.points.push_back(place + ": " + getWorkClass(&op));
      }
      spans[&op] = {begin, countPoints() - 1};
    }
    for (auto alloc : function.getOps<rank::AllocOp>())
      if (!isFrame(alloc) && !alloc.getHost())
        addLocal(alloc, place, base, spans);
  }

  static bool isFrame(rank::AllocOp alloc) {
    return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
      auto call = dyn_cast<rank::CallOp>(user);
      return call && call.getFrame() == alloc.getBuffer();
    });
  }

  void addLocal(rank::AllocOp alloc, const std::string &place, int64_t base,
                const llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> &spans) {
    int64_t begin = countPoints(), end = -1;
    for (Operation *user : alloc->getUsers()) {
      auto [first, last] = spans.lookup(user);
      begin = std::min(begin, first);
      end = std::max({end, last, spans.lookup(rank::getLastOp(user)).second});
    }
    if (end < begin)
      return;
    const Content &content = describe(alloc.getBuffer());
    profile.buffers.push_back({content.name + " (" + place + ")", content.type, alloc.getCategory(),
                               alloc.getType().getBytes(), base + getOffset(alloc.getOffset()), begin, end});
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
      return describe(lookup(call.getCallee()).getArgument(getPosition(call, buffer)));
    if (isa<rank::CopyOp>(first))
      return {"copy", ""};
    auto work = cast<rank::WorkOpInterface>(first);
    unsigned position = llvm::find(work.getOuts(), buffer) - work.getOuts().begin();
    Operation *yield = work.getBody().front().getTerminator();
    return {getWorkClass(first), printType(yield->getOperand(position).getType())};
  }

  static unsigned getPosition(rank::CallOp call, Value buffer) {
    return llvm::find(call.getBuffers(), buffer) - call.getBuffers().begin();
  }

  bool writes(Operation *op, Value buffer) {
    if (auto copy = dyn_cast<rank::CopyOp>(op))
      return copy.getTarget() == buffer;
    if (auto call = dyn_cast<rank::CallOp>(op)) {
      rank::FuncOp callee = lookup(call.getCallee());
      return call.getFrame() != buffer &&
             getPosition(call, buffer) + callee.getResults() >= callee.getNumArguments();
    }
    auto work = dyn_cast<rank::WorkOpInterface>(op);
    return work && llvm::is_contained(work.getOuts(), buffer);
  }

  Content describe(rank::SlotOp slot) {
    std::string type = slot.getTensor() ? printType(*slot.getTensor()) : "";
    if (slot.getKind() != rank::SlotKind::Residual)
      return {(rank::stringifySlotKind(slot.getKind()) + " " + slot.getName()).str(), type};
    for (Operation *user : slot->getUsers()) {
      auto action = cast<rank::ActionOp>(user);
      unsigned position = llvm::find(action.getBuffers(), slot.getBuffer()) - action.getBuffers().begin();
      rank::FuncOp callee = lookup(action.getCallee());
      if (position + callee.getResults() >= callee.getNumArguments())
        return {"saved " + describe(callee.getArgument(position)).name + " (" + action.getName().str() +
                    ", residual " + slot.getName().str() + ")",
                type};
    }
    return {("residual " + slot.getName()).str(), type};
  }

  //===--------------------------------------------------------------------===//
  // Slots and sums
  //===--------------------------------------------------------------------===//

  /// Residuals live from the first to the last action that has them, all else during the whole step.
  void addSlots(ArrayRef<std::pair<int64_t, int64_t>> spans) {
    llvm::DenseMap<Operation *, int64_t> numbers;
    for (auto [number, action] : llvm::enumerate(schedule.getOps<rank::ActionOp>()))
      numbers[action] = static_cast<int64_t>(number);
    for (auto slot : schedule.getOps<rank::SlotOp>()) {
      if (slot.getKind() == rank::SlotKind::Frame || slot.getHost())
        continue;
      int64_t begin = 0, end = countPoints() - 1;
      if (slot.getKind() == rank::SlotKind::Residual) {
        std::swap(begin, end);
        for (Operation *user : slot->getUsers()) {
          begin = std::min(begin, spans[numbers[user]].first);
          end = std::max(end, spans[numbers[user]].second);
        }
      }
      Content content = describe(slot);
      profile.buffers.push_back({content.name, content.type, slot.getCategory(), slot.getType().getBytes(),
                                 getOffset(slot.getOffset()), begin, end});
    }
  }

  void measure() {
    std::vector<MemoryProfile::CategoryBytes> changes(profile.points.size() + 1);
    for (const LiveBuffer &buffer : profile.buffers) {
      changes[buffer.begin][static_cast<unsigned>(buffer.category)] += buffer.bytes;
      changes[buffer.end + 1][static_cast<unsigned>(buffer.category)] -= buffer.bytes;
    }
    MemoryProfile::CategoryBytes now{};
    for (int64_t point = 0; point < countPoints(); ++point) {
      int64_t sum = 0;
      for (unsigned category = 0; category < MemoryProfile::kCategories; ++category)
        sum += now[category] += changes[point][category];
      profile.live.push_back(now);
      if (sum > profile.mostLive) {
        profile.mostLive = sum;
        profile.fullest = point;
      }
    }
    profile.peakBytes = static_cast<int64_t>(schedule.getPeakBytes().value_or(0));
  }

  SymbolTable symbols;
  rank::ScheduleOp schedule;
  MemoryProfile profile;
  llvm::DenseMap<Value, Content> contents;
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

MemoryProfile par::profileMemory(ModuleOp module) { return Replay(module).run(); }
