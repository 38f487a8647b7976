//===- ProgramTimesTest.cpp - how long the functions of a rank program run ------------------------------===//
#include "par/Cost/ProgramTimes.h"
#include "mlir/Parser/Parser.h"
#include "par/Cost/PredictStep.h"
#include "par/Register/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;

namespace {

/// 32 operations and 100 bytes a second; the link has 10 bytes a second, after a second.
const DeviceRates kRates{32, 100, 10, 1};
const RooflineMachine kMachine(kRates);

// A copy of 64 bytes takes 1.28 s. All-reduces of as many over two ranks send 64 bytes: 7.4 s. The product
// has 128 operations: 4 s.
constexpr const char *kFunctions = R"(
par.mesh @mesh <["pp"=2, "tp"=2]>
rank.func @product(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  rank.gemm ins(%x, %x : !rank.buffer<64>, !rank.buffer<64>) outs(%y : !rank.buffer<64>) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32, to = f32, m = 4, n = 4, k = 4, lda = 4, ldb = 4, ldc = 4>]} {
  ^bb0(%t: tensor<4x4xf32>, %u: tensor<4x4xf32>):
    %0 = par.einsum "ik,kj->ij"(%t, %u) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.return
}
rank.func @turns(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<4x4xf32>):
    %0 = par.transpose %t [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    rank.yield %0 : tensor<4x4xf32>
  }
  rank.return
}
rank.func @collects(%x: !rank.buffer<64>, %y: !rank.buffer<64>) attributes {results = 1 : i64} {
  rank.collective ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.all_reduce sum over ["tp"] %t : (tensor<16xf32>) -> tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64>
  rank.return
}
rank.func @overlaps(%x: !rank.buffer<64>, %y: !rank.buffer<64>, %z: !rank.buffer<64>) attributes {results = 2 : i64} {
  %a = rank.alloc workspace : !rank.buffer<64>
  %f = rank.alloc workspace : !rank.buffer<0>
  rank.copy %x to %a : !rank.buffer<64>, !rank.buffer<64>
  %d = rank.start ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.all_reduce sum over ["tp"] %t : (tensor<16xf32>) -> tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  %e = rank.start ins(%x : !rank.buffer<64>) outs(%z : !rank.buffer<64>) {
  ^bb0(%t: tensor<16xf32>):
    %0 = par.all_reduce sum over ["tp"] %t : (tensor<16xf32>) -> tensor<16xf32>
    rank.yield %0 : tensor<16xf32>
  }
  rank.call @product frame %f : <0> ins(%x : !rank.buffer<64>) outs(%a : !rank.buffer<64>) {parts = 2 : i64}
  rank.wait %d
  rank.copy %y to %a : !rank.buffer<64>, !rank.buffer<64>
  rank.wait %e
  rank.return
}
)";

// 64 bytes over the link.
constexpr const char *kTransfers = R"(
rank.func @leaves(%x: !rank.buffer<64>, %y: !rank.buffer<64, pinned>) attributes {results = 1 : i64} {
  rank.copy %x to %y : !rank.buffer<64>, !rank.buffer<64, pinned>
  rank.return
}
)";

class ProgramTimesTest : public ::testing::Test {
protected:
  ProgramTimesTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  void parse(const std::string &schedules) {
    module = parseSourceString<ModuleOp>(kFunctions + schedules, &context);
    ASSERT_TRUE(module);
  }
  double measure(StringRef name) {
    return ProgramTimes(*module, kMachine).measure(module->lookupSymbol<rank::FuncOp>(name)).sum();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ProgramTimesTest, WorkTakesWhatIsSlower) {
  parse("");
  EXPECT_DOUBLE_EQ(measure("product"), 4);
  EXPECT_DOUBLE_EQ(measure("collects"), 7.4 + 1.28);
}

TEST_F(ProgramTimesTest, TransposesAreKnown) {
  parse("");
  auto isTranspose = [&](StringRef name) {
    Operation &op = module->lookupSymbol<rank::FuncOp>(name).getBody().front().front();
    return describeComputation(&op).transposes;
  };
  EXPECT_TRUE(isTranspose("turns"));
  EXPECT_FALSE(isTranspose("product"));
}

TEST_F(ProgramTimesTest, CopiesBetweenMemoriesTakeALink) {
  parse(kTransfers);
  EXPECT_DOUBLE_EQ(measure("leaves"), 7.4);
}

// The second all-reduce begins when the first one ends, at 1.28 + 7.4 s; the products run beside both.
TEST_F(ProgramTimesTest, WhatIsStartedRunsBeside) {
  parse("");
  EXPECT_DOUBLE_EQ(measure("overlaps"), 1.28 + 7.4 + 7.4);
}

// The products, and the copy behind the first wait, come behind both.
TEST_F(ProgramTimesTest, WhatIsStartedMayBlock) {
  struct Blocking : RooflineMachine {
    using RooflineMachine::RooflineMachine;
    bool exchangeBlocks(const Exchange &exchange) const override { return exchange.axes.front() == 1; }
  };
  parse("");
  auto function = module->lookupSymbol<rank::FuncOp>("overlaps");
  EXPECT_DOUBLE_EQ(ProgramTimes(*module, Blocking(kRates)).measure(function).sum(),
                   1.28 + 7.4 + 7.4 + 8 + 1.28);
}

/// Computing runs at half its rate beside collectives; the host takes 3 s to issue an op.
class SlowedMachine : public RooflineMachine {
public:
  explicit SlowedMachine(double hostTime) : RooflineMachine({32, 100, 10, 1}), hostTime(hostTime) {}
  double getHostTime() const override { return hostTime; }
  ConcurrencyModel getConcurrency() const override { return {0.5, 0.8}; }
  double hostTime;
};

// The all-reduces take 7.4 / 0.8 = 9.25 s each and end at 19.78 s; 8 s of products take 16 s
// beside them, and of the copy behind them, 1.28 s, 1.25 s take twice as long.
TEST_F(ProgramTimesTest, WhatRunsBesideSlowsDown) {
  parse("");
  auto function = module->lookupSymbol<rank::FuncOp>("overlaps");
  TimeTerms terms = ProgramTimes(*module, SlowedMachine(0)).measure(function);
  EXPECT_DOUBLE_EQ(terms.products, 8);
  EXPECT_DOUBLE_EQ(terms.contention, 8 + 1.25);
  EXPECT_DOUBLE_EQ(terms.sum(), 1.28 + 16 + 2.5 + 0.03);
  EXPECT_EQ(terms.host, 0);
}

// A copy, two starts and a copy, 12 s of the host; the two products that are called 3 s each: they are issued
// faster than they run.
TEST_F(ProgramTimesTest, TheHostIssuesOneOpAfterTheOther) {
  parse("");
  auto collects = module->lookupSymbol<rank::FuncOp>("collects");
  EXPECT_DOUBLE_EQ(ProgramTimes(*module, SlowedMachine(3)).measure(collects).host, 0);
  TimeTerms slow = ProgramTimes(*module, SlowedMachine(30)).measure(collects);
  EXPECT_DOUBLE_EQ(slow.sum(), 60);
  EXPECT_DOUBLE_EQ(slow.host, 60 - 7.4 - 1.28);
}

// Forward, a message, forward and back, a message, back. A message of 64 bytes takes as long as the
// all-reduce.
TEST_F(ProgramTimesTest, StepsAreReplayed) {
  std::string slots = R"(
  %f = rank.slot frame "f" workspace : !rank.buffer<0>
  %w = rank.slot variable "w" parameters {tensor = tensor<16xf32>} : !rank.buffer<64>
  %x = rank.slot residual "activation 0.0" activations {tensor = tensor<16xf32>} : !rank.buffer<64>
  %d = rank.slot residual "gradient 0.0" activations {tensor = tensor<16xf32>} : !rank.buffer<64>
  )",
              runs = " frame %f : <0> ins(%w : !rank.buffer<64>) outs(%x : !rank.buffer<64>) {chunk = ",
              one = " : i64, micro_batch = 0 : i64}\n", sends = "(%x : !rank.buffer<64>)",
              gives = "(%d : !rank.buffer<64>)";
  parse("rank.schedule train stage 0 {" + slots + "rank.action forward @product" + runs + "0" + one +
        "rank.exchange send_activation with [1] ins" + sends + " outs() {chunk = 0" + one +
        "rank.exchange receive_gradient with [1] ins() outs" + gives + " {chunk = 0" + one +
        "rank.exchange sent_activation with [1] ins" + sends + " outs() {chunk = 0" + one +
        "rank.exchange received_gradient with [1] ins() outs" + gives + " {chunk = 0" + one +
        "rank.action backward @collects" + runs + "0" + one + "rank.return }\n" +
        "rank.schedule train stage 1 {" + slots + "rank.exchange receive_activation with [0] ins() outs" +
        sends + " {chunk = 1" + one + "rank.exchange received_activation with [0] ins() outs" + sends +
        " {chunk = 1" + one + "rank.action forward @product" + runs + "1" + one +
        "rank.action backward @product" + runs + "1" + one + "rank.exchange send_gradient with [0] ins" +
        gives + " outs() {chunk = 1" + one + "rank.exchange sent_gradient with [0] ins" + gives +
        " outs() {chunk = 1" + one + "rank.return }\n");
  FailureOr<PredictedStep> step = predictStep(*module, kMachine);
  ASSERT_TRUE(succeeded(step));
  EXPECT_DOUBLE_EQ(step->timeline.end, 4 + 7.4 + 4 + 4 + 7.4 + (7.4 + 1.28));
  EXPECT_DOUBLE_EQ(step->timeline.work, (4 + 7.4 + 1.28 + 4 + 4) / 2);
  ASSERT_EQ(step->timeline.messages.size(), 2u);
  EXPECT_DOUBLE_EQ(step->timeline.messages[0].begin, 4);
  EXPECT_DOUBLE_EQ(step->timeline.messages[1].end, 4 + 7.4 + 4 + 4 + 7.4);

  // Two ranks for each core, of which one waits all the time: the other one is twice as quick. Messages are
  // not.
  struct SharedMachine : RooflineMachine {
    using RooflineMachine::RooflineMachine;
    double getOversubscription() const override { return 2; }
  };
  FailureOr<PredictedStep> shared = predictStep(*module, SharedMachine(kRates));
  ASSERT_TRUE(succeeded(shared));
  EXPECT_NEAR(shared->timeline.end, 2 + 7.4 + 2 + 2 + 7.4 + (7.4 + 1.28) / 2, 1e-9);
  EXPECT_NEAR(shared->timeline.work, step->timeline.work / 2, 1e-9);
  EXPECT_NEAR(shared->terms.sum(), shared->timeline.end, 1e-9);
}

} // namespace
