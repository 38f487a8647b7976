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
      StringRef runs = "@none frame %f : !rank.buffer<0> ins() outs()";
      if (action.kind == ActionKind::Gather)
        runs = "@gather frame %f : !rank.buffer<0> ins() outs(%g : !rank.buffer<4>)";
      else if (action.kind == ActionKind::Forward && schedule.step->gathers)
        runs = "@forward frame %f : !rank.buffer<0> ins(%g : !rank.buffer<4>) outs()";
      text += ("rank.action " + stringifyActionKind(action.kind) + " " + runs + " {chunk = " +
               Twine(action.chunk) + " : i64, micro_batch = " + Twine(action.microBatch) + " : i64}\n")
                  .str();
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
      for (auto op : schedule.getOps<rank::ActionOp>())
        lists.back().push_back(
            {op.getKind(), static_cast<int64_t>(op.getChunk()), static_cast<int64_t>(op.getMicroBatch())});
    }
  }

  bool run() {
    for (size_t stage = 0; stage < lists.size(); ++stage)
      if (!std::is_permutation(lists[stage].begin(), lists[stage].end(), whole.stages[stage].begin(),
                               whole.stages[stage].end()))
        return false;
    std::vector<size_t> position(lists.size());
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t stage = 0; stage < lists.size(); ++stage)
        while (position[stage] < lists[stage].size() && canRun(lists[stage][position[stage]])) {
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

  bool canRun(const Action &action) const {
    int64_t chunk = action.chunk, microBatch = action.microBatch, chunks = whole.shape.getNumChunks();
    switch (action.kind) {
    case ActionKind::Forward:
      return (!whole.step->gathers || isDone({ActionKind::Gather}, chunk, -1)) &&
             (chunk == 0 ||
              (isAlone(chunk, chunk - 1) ? isDone({ActionKind::Forward}, chunk - 1, microBatch)
                                         : isDone({ActionKind::ReceiveActivation}, chunk, microBatch)));
    case ActionKind::SendActivation:
      return isDone({ActionKind::Forward}, chunk, microBatch);
    case ActionKind::ReceiveActivation:
      return isDone({ActionKind::SendActivation}, chunk - 1, microBatch);
    case ActionKind::SendGradient:
      return isDone(kInput, chunk, microBatch);
    case ActionKind::ReceiveGradient:
      return isDone({ActionKind::SendGradient}, chunk + 1, microBatch);
    case ActionKind::BackwardWeight:
      return isDone({ActionKind::BackwardInput}, chunk, microBatch);
    case ActionKind::Reduce:
      for (int64_t i = 0; i < whole.shape.microBatches; ++i)
        if (!isDone({ActionKind::Backward, ActionKind::BackwardWeight}, chunk, i))
          return false;
      return true;
    case ActionKind::BackwardLast:
      for (int64_t i = 0; i < whole.shape.microBatches; ++i)
        if (i != microBatch && !isDone({ActionKind::Backward}, chunk, i))
          return false;
      return canRun({ActionKind::Backward, chunk, microBatch});
    case ActionKind::Norm:
      for (int64_t i = 0; i < chunks; ++i)
        if (!isDone({ActionKind::Reduce, ActionKind::BackwardLast}, i, last(i)))
          return false;
      return true;
    case ActionKind::Update:
      return isDone({ActionKind::Norm}, chunk, -1);
    case ActionKind::Gather:
      return true;
    default:
      return isDone({ActionKind::Forward}, chunk, microBatch) &&
             (chunk + 1 == chunks ||
              (isAlone(chunk, chunk + 1) ? isDone(kInput, chunk + 1, microBatch)
                                         : isDone({ActionKind::ReceiveGradient}, chunk, microBatch)));
    }
  }

  /// The micro-batch whose backward pass reduces.
  int64_t last(int64_t chunk) const {
    for (const std::vector<Action> &actions : lists)
      for (const Action &action : actions)
        if (action.kind == ActionKind::BackwardLast && action.chunk == chunk)
          return action.microBatch;
    return -1;
  }

  const PipelineSchedule &whole;
  std::vector<std::vector<Action>> lists;
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
    bool split = name.starts_with("zb") || name == "dualpipe-v";
    StepParts parts{random() % 2 == 0, true, !split && random() % 2 == 0};
    return completeStep(llvm::cantFail(buildSchedule(name, {stages, count, getUsualChunks(name)})), parts);
  }

  /// Moves, drops or doubles an action of one stage.
  void mutate(ModuleOp module) {
    SmallVector<rank::ScheduleOp> schedules(module.getOps<rank::ScheduleOp>());
    SmallVector<rank::ActionOp> actions(schedules[random() % schedules.size()].getOps<rank::ActionOp>());
    rank::ActionOp action = actions[random() % actions.size()], other = actions[random() % actions.size()];
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
  constexpr int kMutations = 5000;
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
