//===- IntegerProgramTest.cpp - the solver ------------------------------------------------------------===//
#include "par/ShardingSearch/IntegerProgram.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace mlir::par;

namespace {

/// Of so many things of odd weights and values, those of the most value that weigh no more than half of all.
IntegerProgram makeKnapsack(int things) {
  IntegerProgram program;
  IntegerProgram::Terms terms;
  double sum = 0;
  for (int thing = 0; thing < things; ++thing) {
    int weight = 101 + 37 * thing % 89;
    terms.emplace_back(program.addColumn(-(weight + 13 * thing % 7), /*isInteger=*/true), weight);
    sum += weight;
  }
  program.addRow(std::move(terms), 0, std::floor(sum / 2) + 0.5);
  return program;
}

double addUp(const IntegerProgram &program, unsigned chosen) {
  double cost = 0, weight = 0;
  for (auto [column, factor] : program.rows[0].terms)
    if (chosen >> column & 1) {
      cost += program.columns[column].cost;
      weight += factor;
    }
  return weight <= program.rows[0].most ? cost : 0;
}

TEST(IntegerProgram, isTheLeastOfAll) {
  IntegerProgram program = makeKnapsack(14);
  double least = 0;
  for (unsigned chosen = 0; chosen < 1u << 14; ++chosen)
    least = std::min(least, addUp(program, chosen));
  llvm::Expected<ProgramAnswer> answer = solveProgram(program, {20000, 0});
  ASSERT_TRUE(static_cast<bool>(answer));
  EXPECT_TRUE(answer->isFeasible);
  EXPECT_FALSE(answer->isCutOff);
  EXPECT_NEAR(answer->cost, least, 1e-6);
  EXPECT_NEAR(answer->bound, least, 1e-6);
}

/// Threads that solve at once get what one gets alone.
TEST(IntegerProgram, isSolvedByManyThreadsAtOnce) {
  IntegerProgram program = makeKnapsack(14);
  llvm::Expected<ProgramAnswer> alone = solveProgram(program, {20000, 0});
  ASSERT_TRUE(static_cast<bool>(alone));
  std::atomic<int> others = 0;
  auto solve = [&] {
    for (int time = 0; time < 25; ++time) {
      llvm::Expected<ProgramAnswer> answer = solveProgram(program, {20000, 0});
      if (!answer)
        llvm::consumeError(answer.takeError());
      others += !answer || std::abs(answer->cost - alone->cost) > 1e-6;
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back(solve);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(others, 0);
}

TEST(IntegerProgram, whatIsCutOffSaysSo) {
  // Several knapsacks at once: no solver is done with them at the first branch.
  IntegerProgram program = makeKnapsack(40);
  for (int row = 1; row < 6; ++row) {
    IntegerProgram::Terms terms;
    double sum = 0;
    for (int thing = 0; thing < 40; ++thing) {
      int weight = 20 + (thing * thing * 31 + row * thing * 57 + row * 11) % 97;
      terms.emplace_back(thing, weight);
      sum += weight;
    }
    program.addRow(std::move(terms), 0, sum / 2);
  }
  llvm::Expected<ProgramAnswer> whole = solveProgram(program, {100000, 0}),
                                cut = solveProgram(program, {1, 0});
  ASSERT_TRUE(static_cast<bool>(whole) && static_cast<bool>(cut));
  EXPECT_FALSE(whole->isCutOff);
  EXPECT_TRUE(cut->isCutOff);
  EXPECT_LT(cut->bound, whole->cost - 1e-6);
  EXPECT_GE(cut->cost, whole->cost - 1e-6);
}

/// A cost is within the gap of the least, and the bound within that of the cost.
TEST(IntegerProgram, gap) {
  IntegerProgram program = makeKnapsack(40);
  llvm::Expected<ProgramAnswer> exact = solveProgram(program, {20000, 0}),
                                near = solveProgram(program, {20000, 0.01});
  ASSERT_TRUE(static_cast<bool>(exact) && static_cast<bool>(near));
  EXPECT_FALSE(near->isCutOff);
  EXPECT_LE(near->cost, 0.989 * exact->cost);
  EXPECT_LE(near->bound, exact->cost + 1e-6);
}

TEST(IntegerProgram, infeasible) {
  IntegerProgram program;
  int column = program.addColumn(1, /*isInteger=*/true);
  program.addRow({{column, 2}}, 1, 1);
  llvm::Expected<ProgramAnswer> answer = solveProgram(program, {20000, 0});
  ASSERT_TRUE(static_cast<bool>(answer));
  EXPECT_FALSE(answer->isFeasible);
}

} // namespace
