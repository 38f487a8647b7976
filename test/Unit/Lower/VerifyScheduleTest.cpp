//===- VerifyScheduleTest.cpp - lists in the IR get the verdict of a plain search -----------------------===//
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Register/Register.h"
#include "par/Schedule/Schedule.h"
#include "par/Transforms/Lower/Passes.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::par;

namespace {
std::string writeNumbers(const Action &action) {
  return (" {chunk = " + Twine(action.chunk) + " : i64, micro_batch = " + Twine(action.microBatch) +
          " : i64}\n")
      .str();
}

/// Nothing for what runs a function.
std::string writeExchange(const PipelineSchedule &schedule, const Action &action) {
  std::vector<int64_t> stages;
  if (std::optional<Message> message = getMessage(action))
    stages = {schedule.stageOfChunk[size_t(action.chunk == message->from ? message->to : message->from)]};
  else if (action.kind == ActionKind::SumGradients)
    stages = schedule.step->tied[size_t(action.chunk)];
  else if (action.kind == ActionKind::SumSquares)
    for (int64_t stage = 0; stage < schedule.shape.stages; ++stage)
      stages.push_back(stage);
  else
    return "";
  std::string text = ("rank.exchange " + stringifyActionKind(action.kind) + " with [").str();
  for (int64_t stage : stages)
    text += (stage == stages.front() ? "" : ", ") + std::to_string(stage);
  return text + "] ins() outs()" + writeNumbers(action);
}

/// A module with a schedule per stage, whose actions run nothing. What is gathered lies in a slot.
std::string write(const PipelineSchedule &schedule) {
  std::string text = R"(
    rank.func @none() attributes {results = 0 : i64} { rank.return }
    rank.func @gather(%g: !rank.buffer<4>) attributes {results = 1 : i64} { rank.return }
    rank.func @forward(%g: !rank.buffer<4>) attributes {results = 0 : i64} { rank.return }
  )";
  for (auto [stage, actions] : llvm::enumerate(schedule.stages)) {
    text += "rank.schedule train stage " + std::to_string(stage) + R"( {
      %f = rank.slot frame "frame" workspace : !rank.buffer<0>
      %g = rank.slot residual "gathered" communication {tensor = tensor<f32>} : !rank.buffer<4>
    )";
    for (const Action &action : actions) {
      if (std::string exchange = writeExchange(schedule, action); !exchange.empty()) {
        text += exchange;
        continue;
      }
      StringRef runs = "@none frame %f : !rank.buffer<0> ins() outs()";
      if (action.kind == ActionKind::Gather)
        runs = "@gather frame %f : !rank.buffer<0> ins() outs(%g : !rank.buffer<4>)";
      else if (action.kind == ActionKind::Forward && schedule.step->gathers)
        runs = "@forward frame %f : !rank.buffer<0> ins(%g : !rank.buffer<4>) outs()";
      text += ("rank.action " + stringifyActionKind(action.kind) + " " + runs).str() + writeNumbers(action);
    }
    text += "rank.return\n}\n";
  }
  return text;
}

/// Runs anything that can run until nothing can; true if everything that a step has was done, once.
class Search {
public:
  Search(const PipelineSchedule &whole, ModuleOp module) : whole(whole) {
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
    return true;
  }

private:
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

  /// Moves, drops or doubles an action of one stage.
  void mutate(ModuleOp module) {
    SmallVector<rank::ScheduleOp> schedules(module.getOps<rank::ScheduleOp>());
    SmallVector<Operation *> actions;
    for (auto entry : schedules[random() % schedules.size()].getOps<rank::EntryOpInterface>())
      actions.push_back(entry);
    Operation *action = actions[random() % actions.size()], *other = actions[random() % actions.size()];
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

  MLIRContext context;
  ScopedDiagnosticHandler silence;
  std::mt19937 random;
};

TEST_F(VerifyScheduleTest, VerdictIsThatOfAPlainSearch) {
  constexpr int kMutations = 10000;
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    PipelineSchedule schedule = choose();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(write(schedule), &context);
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
