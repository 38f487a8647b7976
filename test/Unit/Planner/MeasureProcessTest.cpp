//===- MeasureProcessTest.cpp - what measures this machine, and what is made of its rounds --------------===//
#include "par/Planner/MeasureProcess.h"
#include "par/Planner/Calibrate.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::par;
using Clock = std::chrono::steady_clock;

namespace {
/// A shell script in place of par-measure.
class Tool {
public:
  explicit Tool(llvm::StringRef body) {
    int descriptor = -1;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("measure", "sh", descriptor, path));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << "#!/bin/sh\n" << body << "\n";
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all));
  }
  ~Tool() { llvm::sys::fs::remove(path); }

  llvm::Expected<std::string> run(Clock::duration time) const {
    return runMeasureTool(path, 2, Clock::now() + time);
  }

private:
  llvm::SmallString<128> path;
};
} // namespace

// All that it writes, and what it is asked for.
TEST(MeasureProcess, OutputIsWhatTheToolWrites) {
  llvm::Expected<std::string> text = Tool("echo \"$@\"; sleep 0; echo more").run(std::chrono::minutes(10));
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  EXPECT_EQ(*text, "--rounds 2 -o -\nmore\n");
}

// A tool that has not ended by then is ended: the call comes back, and long before the tool would.
TEST(MeasureProcess, DeadlineEndsTheTool) {
  Clock::time_point begin = Clock::now();
  llvm::Expected<std::string> text = Tool("exec sleep 60").run(Clock::duration::zero());
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  EXPECT_EQ(*text, "");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
}

// A tool that fails, that a signal ends, that is not there.
TEST(MeasureProcess, FailuresAreErrors) {
  auto failure = [](llvm::Expected<std::string> text) { return llvm::toString(text.takeError()); };
  std::chrono::minutes time(10);
  EXPECT_NE(failure(Tool("exit 1").run(time)).find("cannot measure this machine"), std::string::npos);
  EXPECT_NE(failure(Tool("kill -9 $$").run(time)).find("was ended by a signal"), std::string::npos);
  EXPECT_EQ(failure(runMeasureTool("/absent/tool", 2, Clock::now() + time)),
            "/absent/tool cannot be started");
}

static Cluster makeRound(double products, double kernels, double memory) {
  Cluster cluster;
  cluster.name = "here";
  cluster.device.products.peakF32 = products;
  cluster.device.kernelFlops = kernels;
  cluster.device.memory.points = {{1 << 16, 100 * memory}, {1 << 28, memory}};
  return cluster;
}

// Rounds within 15 % are those of an idle machine, whichever is the quicker, and the quicker one is taken.
TEST(JudgeRounds, RoundsThatAgreeAreKept) {
  for (bool isSecondQuicker : {false, true}) {
    MeasuredMachine machine = judgeRounds(
        {makeRound(isSecondQuicker ? 100 : 114, 10, 1), makeRound(isSecondQuicker ? 114 : 100, 10, 1)});
    EXPECT_EQ(machine.whyBusy, "");
    EXPECT_EQ(machine.cluster.name, "here");
    EXPECT_EQ(machine.cluster.device.products.peakF32, 114);
  }
}

// One of the rates is enough to call a machine busy, and the name of the cluster says so.
TEST(JudgeRounds, RoundsThatDifferAreThoseOfABusyMachine) {
  for (Cluster second : {makeRound(84, 10, 1), makeRound(100, 8.4, 1), makeRound(100, 10, 0.84)}) {
    MeasuredMachine machine = judgeRounds({makeRound(100, 10, 1), second});
    EXPECT_EQ(machine.whyBusy, "two rounds differ by 19 %");
    EXPECT_EQ(machine.cluster.name, "here (measured while it was busy: two rounds differ by 19 %)");
  }
}

// A second round that did not end leaves the first one, which nothing confirms.
TEST(JudgeRounds, OneRoundIsThatOfABusyMachine) {
  MeasuredMachine machine = judgeRounds({makeRound(100, 10, 1)});
  EXPECT_EQ(machine.whyBusy, "there was no time for a second round");
  EXPECT_EQ(machine.cluster.device.products.peakF32, 100);
}
