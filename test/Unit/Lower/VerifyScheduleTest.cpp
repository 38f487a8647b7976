//===- VerifyScheduleTest.cpp - lists in the IR get the verdict of a plain search -----------------------===//
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Register/Register.h"
#include "par/Schedule/FlightPlan.h"
#include "par/Schedule/Schedule.h"
#include "par/Transforms/Lower/Passes.h"
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Tensors that are no tensor<f32>, of its size or not.
const std::vector<StringRef> kOthers = {"tensor<1xf32>} : !rank.buffer<4>", "tensor<i32>} : !rank.buffer<4>",
                                        "tensor<2xbf16>} : !rank.buffer<4>",
                                        "tensor<2xf32>} : !rank.buffer<8>"};

std::string writeNumbers(const Action &action) {
  return (" {chunk = " + Twine(action.chunk) + " : i64, micro_batch = " + Twine(action.microBatch) +
          " : i64}\n")
      .str();
}

/// The slots of a stage: what a micro-batch leaves for later lies where `FlightPlan` says.
class Slots {
public:
  Slots(const PipelineSchedule &schedule, size_t stage) : flights(schedule, stage) {}

  /// The name of the one that has this of a micro-batch; `chunk` is the one that saves, or that before the
  /// cut.
  std::string get(Flight flight, int64_t chunk, int64_t microBatch) {
    const char *what = flight == Flight::Residuals ? "r" : flight == Flight::Activation ? "a" : "d";
    std::string name =
        (Twine("%") + what + Twine(chunk) + "_" + Twine(flights.getPlace(flight, chunk, microBatch))).str();
    names.insert(name);
    return name;
  }

  std::string write() const {
    std::string text;
    for (const std::string &name : names)
      text += name + " = rank.slot residual \"" + name.substr(1) +
              "\" activations {tensor = tensor<f32>} : !rank.buffer<4>\n";
    return text;
  }

private:
  FlightPlan flights;
  std::set<std::string> names;
};

/// As many as there are names, all of four bytes.
std::string writeBuffers(StringRef which, ArrayRef<std::string> names) {
  std::string text = (which + "(").str();
  for (size_t i = 0; i < names.size(); ++i)
    text += (i ? ", " : "") + names[i];
  for (size_t i = 0; i < names.size(); ++i)
    text += i ? ", !rank.buffer<4>" : " : !rank.buffer<4>";
  return text + ")";
}

/// Nothing for what runs a function. A message has what crosses the cut, and a second buffer (`%side`).
std::string writeExchange(const PipelineSchedule &schedule, const Action &action, Slots &slots) {
  std::vector<int64_t> stages;
  std::vector<std::string> buffers;
  std::optional<Message> message = getMessage(action);
  if (message) {
    stages = {schedule.stageOfChunk[size_t(action.chunk == message->from ? message->to : message->from)]};
    Flight flight = message->isGradient ? Flight::Gradient : Flight::Activation;
    buffers = {slots.get(flight, message->getCut(), message->microBatch), "%side"};
  } else if (action.kind == ActionKind::SumGradients) {
    stages = schedule.step->tied[size_t(action.chunk)];
  } else if (action.kind == ActionKind::SumSquares) {
    for (int64_t stage = 0; stage < schedule.shape.stages; ++stage)
      stages.push_back(stage);
  } else {
    return "";
  }
  std::string text = ("rank.exchange " + stringifyActionKind(action.kind) + " with [").str();
  for (int64_t stage : stages)
    text += (stage == stages.front() ? "" : ", ") + std::to_string(stage);
  bool isSent = message && message->isAtSender();
  return text + "] " + writeBuffers("ins", isSent ? buffers : std::vector<std::string>()) + " " +
         writeBuffers("outs", isSent ? std::vector<std::string>() : buffers) + writeNumbers(action);
}

/// An action reads what came over one cut and what its chunk has saved, and writes what crosses the other
/// cut.
std::string writeAction(const PipelineSchedule &schedule, const Action &action, Slots &slots) {
  std::vector<std::string> ins, outs;
  int64_t chunk = action.chunk, microBatch = action.microBatch, last = schedule.getNumChunks() - 1;
  switch (action.kind) {
  case ActionKind::Gather:
    outs = {"%g"};
    break;
  case ActionKind::Forward:
    if (schedule.step->gathers)
      ins.push_back("%g");
    if (chunk > 0)
      ins.push_back(slots.get(Flight::Activation, chunk - 1, microBatch));
    outs.push_back(slots.get(Flight::Residuals, chunk, microBatch));
    if (chunk < last)
      outs.push_back(slots.get(Flight::Activation, chunk, microBatch));
    break;
  case ActionKind::Backward:
  case ActionKind::BackwardLast:
  case ActionKind::BackwardInput:
    ins.push_back(slots.get(Flight::Residuals, chunk, microBatch));
    if (chunk < last)
      ins.push_back(slots.get(Flight::Gradient, chunk, microBatch));
    if (chunk > 0)
      outs.push_back(slots.get(Flight::Gradient, chunk - 1, microBatch));
    break;
  default:
    break;
  }
  return ("rank.action " + stringifyActionKind(action.kind) + " @f" + Twine(ins.size()) + Twine(outs.size()) +
          " frame %f : !rank.buffer<0> " + writeBuffers("ins", ins) + " " + writeBuffers("outs", outs) +
          writeNumbers(action))
      .str();
}

/// A module with a schedule per stage, whose actions compute nothing. `%other` is of another shape than
/// `%side`.
std::string write(const PipelineSchedule &schedule, StringRef other) {
  std::string text;
  for (unsigned ins = 0; ins <= 2; ++ins)
    for (unsigned outs = 0; outs <= 2; ++outs) {
      text += ("rank.func @f" + Twine(ins) + Twine(outs) + "(").str();
      for (unsigned i = 0; i < ins + outs; ++i)
        text += (i ? ", %" : "%") + std::to_string(i) + ": !rank.buffer<4>";
      text += ") attributes {results = " + std::to_string(outs) + " : i64} { rank.return }\n";
    }
  for (auto [stage, actions] : llvm::enumerate(schedule.stages)) {
    Slots slots(schedule, stage);
    std::string entries;
    for (const Action &action : actions) {
      std::string exchange = writeExchange(schedule, action, slots);
      entries += exchange.empty() ? writeAction(schedule, action, slots) : exchange;
    }
    text += "rank.schedule train stage " + std::to_string(stage) + R"( {
      %f = rank.slot frame "frame" workspace : !rank.buffer<0>
      %g = rank.slot residual "gathered" communication {tensor = tensor<f32>} : !rank.buffer<4>
      %side = rank.slot variable "side" parameters {tensor = tensor<f32>} : !rank.buffer<4>
    )" + ("%other = rank.slot variable \"other\" parameters {tensor = " + other + "\n").str() +
            slots.write() + entries + "rank.return\n}\n";
  }
  return text;
}

/// What the buffers of one stage hold, entry by entry: of which micro-batch it is, and whether a message has
/// it.
class Memory {
public:
  /// Whether all that is read is what was meant, and nothing under way is touched.
  bool run(rank::ScheduleOp schedule) {
    return llvm::all_of(schedule.getOps<rank::EntryOpInterface>(), [&](rank::EntryOpInterface op) {
      auto exchange = dyn_cast<rank::ExchangeOp>(op.getOperation());
      return exchange ? runMessage(exchange) : runAction(cast<rank::ActionOp>(op.getOperation()));
    });
  }

private:
  static bool isHeld(Value buffer) {
    auto slot = buffer.getDefiningOp<rank::SlotOp>();
    return slot.getKind() == rank::SlotKind::Residual && slot.getName() != "gathered";
  }

  bool runAction(rank::ActionOp op) {
    int64_t microBatch = op.getAction().microBatch;
    for (Value buffer : op.getIns())
      if (isHeld(buffer) && (holds[buffer] != microBatch + 1 || receives.count(buffer)))
        return false;
    for (Value buffer : op.getOuts())
      if (isHeld(buffer)) {
        if (receives.count(buffer) || sends.count(buffer))
          return false;
        holds[buffer] = microBatch + 1;
      }
    return true;
  }

  bool runMessage(rank::ExchangeOp op) {
    std::optional<Message> message = getMessage(op.getAction());
    // At run time a wait has no micro-batch: it is for the first of its kind that began and was not waited
    // for.
    if (message) {
      std::deque<int64_t> &kind = begun[{message->isAtSender(), message->isGradient, message->from}];
      if (message->begins())
        kind.push_back(message->microBatch);
      else if (kind.empty() || kind.front() != message->microBatch)
        return false;
      else
        kind.pop_front();
    }
    for (Value buffer : op.getBuffers()) {
      if (!message || !isHeld(buffer))
        continue;
      bool isSent = message->isAtSender();
      std::map<Value, int64_t, Less> &own = isSent ? sends : receives;
      if (message->begins()) {
        bool isFree = isSent ? holds[buffer] == message->microBatch + 1 && !receives.count(buffer)
                             : !receives.count(buffer) && !sends.count(buffer);
        if (!isFree || !own.try_emplace(buffer, message->microBatch).second)
          return false;
        continue;
      }
      if (!own.count(buffer) || own[buffer] != message->microBatch)
        return false;
      own.erase(buffer);
      if (!isSent)
        holds[buffer] = message->microBatch + 1;
    }
    return true;
  }

  struct Less {
    bool operator()(Value a, Value b) const { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }
  };
  std::map<Value, int64_t, Less> holds; ///< micro-batch + 1; 0 for nothing
  std::map<Value, int64_t, Less> sends, receives;
  std::map<std::tuple<bool, bool, int64_t>, std::deque<int64_t>> begun; ///< messages under way, by kind
};

/// Runs anything that can run until nothing can; true if everything that a step has was done, once.
class Search {
public:
  Search(const PipelineSchedule &whole, ModuleOp module) : whole(whole), module(module) {
    for (auto schedule : module.getOps<rank::ScheduleOp>()) {
      lists.emplace_back();
      for (auto op : schedule.getOps<rank::EntryOpInterface>())
        lists.back().push_back(op.getAction());
    }
  }

  bool run() {
    for (size_t stage = 0; stage < lists.size(); ++stage)
      if (!std::is_permutation(lists[stage].begin(), lists[stage].end(), whole.stages[stage].begin(),
                               whole.stages[stage].end()))
        return false;
    if (!queuesAgree())
      return false;
    position.assign(lists.size(), 0);
    came.resize(lists.size());
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t stage = 0; stage < lists.size(); ++stage)
        while (position[stage] < lists[stage].size() && canRun(lists[stage][position[stage]], stage)) {
          done.push_back(lists[stage][position[stage]++]);
          progress = true;
        }
    }
    for (size_t stage = 0; stage < lists.size(); ++stage)
      if (position[stage] < lists[stage].size())
        return false;
    return llvm::all_of(module.getOps<rank::ScheduleOp>(),
                        [](rank::ScheduleOp schedule) { return Memory().run(schedule); }) &&
           messagesAgree();
  }

private:
  /// Both ends of a message have tensors of the same types.
  bool messagesAgree() const {
    std::map<Message::Id, std::vector<Type>> sent, received;
    for (auto schedule : module.getOps<rank::ScheduleOp>())
      for (auto op : schedule.getOps<rank::ExchangeOp>())
        if (std::optional<Message> message = getMessage(op.getAction()); message && message->begins())
          for (Value buffer : op.getBuffers())
            (message->isAtSender() ? sent : received)[message->getId()].push_back(
                *buffer.getDefiningOp<rank::SlotOp>().getTensor());
    return sent == received;
  }

  using Kinds = std::initializer_list<ActionKind>;
  bool isDone(Kinds kinds, int64_t chunk, int64_t microBatch) const {
    return llvm::any_of(done, [&](const Action &action) {
      return llvm::is_contained(kinds, action.kind) && action.chunk == chunk &&
             action.microBatch == microBatch;
    });
  }
  bool isAlone(int64_t chunk, int64_t other) const {
    return whole.stageOfChunk[size_t(chunk)] == whole.stageOfChunk[size_t(other)];
  }
  static constexpr Kinds kInput = {ActionKind::Backward, ActionKind::BackwardInput, ActionKind::BackwardLast};

  /// What a stage sends to another one, that one receives in the same order.
  bool queuesAgree() const {
    std::map<std::pair<int64_t, int64_t>, std::array<std::vector<std::tuple<bool, int64_t, int64_t>>, 2>>
        queues;
    for (const std::vector<Action> &list : lists)
      for (const Action &action : list)
        if (std::optional<Message> message = getMessage(action))
          if (message->part == MessagePart::Send || message->part == MessagePart::Receive)
            queues[{whole.stageOfChunk[size_t(message->from)], whole.stageOfChunk[size_t(message->to)]}]
                  [message->part == MessagePart::Send]
                      .push_back({message->isGradient, message->from, message->microBatch});
    return llvm::all_of(queues, [](auto &queue) { return queue.second[0] == queue.second[1]; });
  }

  bool canRun(const Action &action, size_t stage) {
    int64_t chunk = action.chunk, microBatch = action.microBatch, chunks = whole.shape.getNumChunks();
    auto areDone = [&](ActionKind kind) {
      for (int64_t i = 0; i < chunks; ++i)
        if (whole.stageOfChunk[size_t(i)] == int64_t(stage) && !isDone({kind}, i, -1) &&
            !(kind == ActionKind::Reduce &&
              isDone({ActionKind::BackwardLast, ActionKind::BackwardWeightLast}, i, last(i))))
          return false;
      return true;
    };
    switch (action.kind) {
    case ActionKind::SentActivation:
      return isDone({ActionKind::SendActivation}, chunk, microBatch) &&
             isDone({ActionKind::ReceiveActivation}, chunk + 1, microBatch);
    case ActionKind::ReceivedActivation:
      return isDone({ActionKind::ReceiveActivation}, chunk, microBatch) &&
             isDone({ActionKind::SendActivation}, chunk - 1, microBatch);
    case ActionKind::SentGradient:
      return isDone({ActionKind::SendGradient}, chunk, microBatch) &&
             isDone({ActionKind::ReceiveGradient}, chunk - 1, microBatch);
    case ActionKind::ReceivedGradient:
      return isDone({ActionKind::ReceiveGradient}, chunk, microBatch) &&
             isDone({ActionKind::SendGradient}, chunk + 1, microBatch);
    case ActionKind::SumGradients:
    case ActionKind::SumSquares: {
      bool isSquares = action.kind == ActionKind::SumSquares;
      if (!areDone(isSquares ? ActionKind::Norm : ActionKind::Reduce))
        return false;
      if (!llvm::is_contained(came[stage], action))
        came[stage].push_back(action);
      std::vector<int64_t> all;
      for (int64_t i = 0; i < whole.shape.stages; ++i)
        all.push_back(i);
      return llvm::all_of(isSquares ? all : whole.step->tied[size_t(chunk)],
                          [&](int64_t other) { return llvm::is_contained(came[size_t(other)], action); });
    }
    case ActionKind::Forward:
      return (!whole.step->gathers || isDone({ActionKind::Gather}, chunk, -1)) &&
             (chunk == 0 ||
              (isAlone(chunk, chunk - 1) ? isDone({ActionKind::Forward}, chunk - 1, microBatch)
                                         : isDone({ActionKind::ReceivedActivation}, chunk, microBatch)));
    case ActionKind::SendActivation:
      return isDone({ActionKind::Forward}, chunk, microBatch);
    case ActionKind::ReceiveActivation:
    case ActionKind::ReceiveGradient:
      return true;
    case ActionKind::SendGradient:
      return isDone(kInput, chunk, microBatch);
    case ActionKind::BackwardWeight:
      return isDone({ActionKind::BackwardInput}, chunk, microBatch);
    case ActionKind::Reduce:
      for (int64_t i = 0; i < whole.shape.microBatches; ++i)
        if (!isDone({ActionKind::Backward, ActionKind::BackwardWeight}, chunk, i))
          return false;
      return true;
    case ActionKind::BackwardLast:
      for (int64_t i = 0; i < whole.shape.microBatches; ++i)
        if (i != microBatch && !isDone({ActionKind::Backward, ActionKind::BackwardWeight}, chunk, i))
          return false;
      return canRun({ActionKind::Backward, chunk, microBatch}, stage);
    case ActionKind::BackwardWeightLast:
      for (int64_t i = 0; i < whole.shape.microBatches; ++i)
        if (i != microBatch && !isDone({ActionKind::Backward, ActionKind::BackwardWeight}, chunk, i))
          return false;
      return canRun({ActionKind::BackwardWeight, chunk, microBatch}, stage);
    case ActionKind::Norm:
      return areDone(ActionKind::Reduce);
    case ActionKind::Update:
      return areDone(ActionKind::Norm);
    case ActionKind::Gather:
      return true;
    default:
      return isDone({ActionKind::Forward}, chunk, microBatch) &&
             (chunk + 1 == chunks ||
              (isAlone(chunk, chunk + 1) ? isDone(kInput, chunk + 1, microBatch)
                                         : isDone({ActionKind::ReceivedGradient}, chunk, microBatch)));
    }
  }

  /// The micro-batch whose backward pass reduces.
  int64_t last(int64_t chunk) const {
    for (const std::vector<Action> &actions : lists)
      for (const Action &action : actions)
        if ((action.kind == ActionKind::BackwardLast || action.kind == ActionKind::BackwardWeightLast) &&
            action.chunk == chunk)
          return action.microBatch;
    return -1;
  }

  const PipelineSchedule &whole;
  mutable ModuleOp module; ///< whose accessors are not const
  std::vector<std::vector<Action>> lists;
  std::vector<size_t> position;
  std::vector<std::vector<Action>> came; ///< by stage: the sums to which it has come
  std::vector<Action> done;
};

class VerifyScheduleTest : public testing::Test {
protected:
  VerifyScheduleTest()
      : context(makeRegistry()), silence(&context, [](Diagnostic &) { return success(); }), random(11) {
    context.loadAllAvailableDialects();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  bool verify(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(createVerifySchedule());
    return succeeded(manager.run(module));
  }

  PipelineSchedule choose() {
    llvm::StringRef name = getScheduleNames()[random() % getScheduleNames().size()];
    int64_t stages = 1 + int64_t(random() % 3), count = stages * (1 + int64_t(random() % 2));
    StepParts parts{random() % 2 == 0, true, {}};
    for (int64_t chunk = 0; chunk < stages * getUsualChunks(name); ++chunk)
      if (random() % 2 == 0)
        parts.reducesInLast.insert(chunk);
    if (stages == 3 && random() % 2)
      parts.tied = {{0, 2}};
    if (stages == 3 && random() % 3 == 0)
      parts.tied.push_back({1, 2});
    return completeStep(llvm::cantFail(buildSchedule(name, {stages, count, getUsualChunks(name)})), parts);
  }

  template <typename Range>
  auto draw(const Range &range) {
    return range[random() % range.size()];
  }

  void mutate(ModuleOp module) {
    SmallVector<rank::ScheduleOp> schedules(module.getOps<rank::ScheduleOp>());
    unsigned what = random() % 9;
    if (what == 0)
      reshape(draw(schedules));
    else if (what == 8)
      swapWaits(draw(schedules));
    else if (what == 1)
      takeBuffer(draw(schedules));
    else
      reorder(draw(schedules));
  }

  /// Moves, drops or doubles an entry.
  void reorder(rank::ScheduleOp schedule) {
    SmallVector<Operation *> actions;
    for (auto entry : schedule.getOps<rank::EntryOpInterface>())
      actions.push_back(entry);
    Operation *action = draw(actions), *other = draw(actions);
    unsigned what = random() % 8;
    if (what == 0)
      action->erase();
    else if (what == 1)
      OpBuilder(other).clone(*action);
    else if (action != other)
      action->moveBefore(what % 2
                             ? other
                             : actions[std::min<size_t>(llvm::find(actions, action) - actions.begin() + 2,
                                                        actions.size() - 1)]);
  }

  /// Two waits change places.
  void swapWaits(rank::ScheduleOp schedule) {
    SmallVector<Operation *> waits;
    for (auto op : schedule.getOps<rank::ExchangeOp>())
      if (std::optional<Message> message = getMessage(op.getAction()); message && !message->begins())
        waits.push_back(op);
    if (waits.empty())
      return;
    Operation *one = draw(waits), *other = draw(waits);
    if (one == other)
      return;
    Operation *place = one->getNextNode();
    one->moveBefore(other);
    if (place != other)
      other->moveBefore(place);
    else
      one->moveAfter(other);
  }

  /// A message has another second buffer, at one end or, one time of three, at both.
  void reshape(rank::ScheduleOp schedule) {
    SmallVector<rank::ExchangeOp> messages;
    for (auto op : schedule.getOps<rank::ExchangeOp>())
      if (getMessage(op.getAction()))
        messages.push_back(op);
    if (messages.empty())
      return;
    Message chosen = *getMessage(draw(messages).getAction());
    bool isBoth = random() % 3 == 0;
    for (auto each : schedule->getParentOfType<ModuleOp>().getOps<rank::ScheduleOp>())
      for (auto op : each.getOps<rank::ExchangeOp>())
        if (std::optional<Message> message = getMessage(op.getAction());
            message && message->getId() == chosen.getId() && (isBoth || each == schedule))
          op->setOperand(1, find(each, "other"));
  }

  static Value find(rank::ScheduleOp schedule, StringRef name) {
    for (auto slot : schedule.getOps<rank::SlotOp>())
      if (slot.getName() == name)
        return slot.getBuffer();
    return {};
  }

  /// What lay in one of two places lies in the other one, too.
  void takeBuffer(rank::ScheduleOp schedule) {
    SmallVector<std::pair<Value, Value>> pairs;
    for (auto slot : schedule.getOps<rank::SlotOp>())
      if (auto [group, place] = slot.getName().split('_'); !place.empty() && place != "0")
        pairs.push_back({slot.getBuffer(), find(schedule, (group + "_0").str())});
    if (pairs.empty())
      return;
    auto [gone, kept] = draw(pairs);
    gone.replaceAllUsesWith(kept);
  }

  MLIRContext context;
  ScopedDiagnosticHandler silence;
  std::mt19937 random;
};

TEST_F(VerifyScheduleTest, VerdictIsThatOfAPlainSearch) {
  constexpr int kMutations = 10000;
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    PipelineSchedule schedule = choose();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(write(schedule, draw(kOthers)), &context);
    ASSERT_TRUE(module);
    if (i % 20 == 0)
      EXPECT_TRUE(verify(*module)) << schedule.name;
    mutate(*module);
    bool expected = Search(schedule, *module).run();
    EXPECT_EQ(verify(*module), expected) << "mutation " << i << " of " << schedule.name;
    refused += !expected;
  }
  EXPECT_GT(refused, kMutations / 10);
  EXPECT_LT(refused, kMutations * 9 / 10);
}
} // namespace
