// Signals at every moment of a run, and readers of its output that stop reading.
#include "TinyPackage.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

using namespace par::test;
using nlohmann::json;

namespace {

class Signals : public testing::Test {
protected:
  /// Tests that are run under nohup ignore hang-ups, and what they start would, too.
  static void SetUpTestSuite() { std::signal(SIGHUP, SIG_DFL); }
  void SetUp() override { writePackage(package(), tinyManifest(2, 2)); }
  /// Starts par-run, waits until `ready` is true of the shell, sends signals and reports the exit code.
  RunResult signalled(const std::string &arguments, const std::string &ready, const std::string &signals,
                      const std::string &before = "") {
    return runShell(before + PAR_RUN " " + package() + " " + arguments + " > " + log() + " 2>&1 & until " +
                    ready + " || ! kill -0 $! 2>/dev/null; do sleep 0.05; done; " + signals +
                    " start=$(date +%s); wait $!; echo code $?; echo seconds $(($(date +%s) - start)); cat " +
                    log());
  }
  static void expectPart(const RunResult &run, const std::string &part) {
    EXPECT_NE(run.output.find(part), std::string::npos) << run.output << "\nexpected: " << part;
  }
  static int secondsOf(const RunResult &run) {
    return std::atoi(run.output.c_str() + run.output.find("seconds ") + 8);
  }
  std::string package() const { return folder / "a.par"; }
  std::string log() const { return folder / "log"; }
  std::string checkpoints() const { return folder / "c"; }

  TemporaryFolder folder;
  const std::string hasMetrics = "[ -s " + (folder / "m") + " ]";
};

} // namespace

TEST_F(Signals, Usr1NeverEndsARun) {
  RunResult run = signalled("--steps 100000000 --metrics " + (folder / "m"), hasMetrics,
                            "kill -USR1 $!; sleep 0.3; kill -0 $! && echo alive; kill -TERM $!;");
  expectPart(run, "alive");
  expectPart(run, "code 1");
  expectPart(run, "nothing was saved");
}

/// A run does not end for want of a reader.
TEST_F(Signals, PipeNeverEndsARun) {
  RunResult run = signalled("--steps 100000000 --metrics " + (folder / "m"), hasMetrics,
                            "kill -PIPE $!; sleep 0.3; kill -0 $! && echo alive; kill -TERM $!;");
  expectPart(run, "alive");
  expectPart(run, "stopped by a signal after step");
  run = runShell(PAR_RUN " " + package() + " --steps 2000 --log-every 1 --metrics " + (folder / "all") +
                 " | head -n 1");
  EXPECT_EQ(run.exitCode, 0);
  EXPECT_EQ(metricsOf(folder / "all").size(), 2000u);
}

TEST_F(Signals, HangupSaves) {
  RunResult run =
      signalled("--steps 100000000 --checkpoint " + checkpoints() + " --metrics " + (folder / "m"),
                hasMetrics, "kill -HUP $!;");
  expectPart(run, "code 1");
  expectPart(run, "go on with --resume " + checkpoints());
  EXPECT_FALSE(std::filesystem::is_empty(checkpoints()));
}

TEST_F(Signals, HangupIsIgnoredUnderNohup) {
  RunResult run = signalled("--steps 100000000 --metrics " + (folder / "m"), hasMetrics,
                            "kill -HUP $!; sleep 0.3; kill -0 $! && echo alive; kill -TERM $!;", "nohup ");
  expectPart(run, "alive");
}

TEST_F(Signals, BeforeTheFirstStep) {
  // Rank 0 waits for the others.
  for (const char *signal : {"TERM", "INT", "HUP"}) {
    RunResult run = runShell(
        "RANK=0 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=1" + std::to_string(getpid() % 9000 + 1000) +
        " " PAR_RUN " " + package() + " --steps 3 --checkpoint " + checkpoints() + " > " + log() +
        " 2>&1 & sleep 0.5; kill -USR1 $!; sleep 0.2; kill -0 $! && echo alive; kill -" + signal +
        " $!; start=$(date +%s); wait $!; echo code $?; echo seconds $(($(date +%s) - start)); cat " + log());
    expectPart(run, "alive");
    expectPart(run, "code 1");
    expectPart(run, "error: par-run: ended by a signal before the first step; there was nothing to save");
    EXPECT_LT(secondsOf(run), 5);
    EXPECT_FALSE(std::filesystem::exists(checkpoints() + "/run.lock"));
  }
}

TEST_F(Signals, AnEvaluationIsCutShortAndTrainingSaved) {
  json manifest = tinyManifest(2, 2);
  addEvaluation(manifest);
  writePackage(package(), manifest);
  writeText(folder / "e", std::string(60'000'000, char(3))); // minutes
  RunResult run = signalled("--steps 7 --eval-every 3 --checkpoint " + checkpoints() + " --eval-data " +
                                (folder / "e") + " --metrics " + (folder / "m"),
                            "grep -q '\"step\":3' " + (folder / "m"), "sleep 0.3; kill -TERM $!;");
  expectPart(run, "code 1");
  expectPart(run, "stopped by a signal after step 3 of 7; go on with --resume " + checkpoints());
  EXPECT_LT(secondsOf(run), 5);
  EXPECT_TRUE(std::filesystem::exists(checkpoints() + "/step-00000003/checkpoint.json"));
  for (const json &line : metricsOf(folder / "m"))
    EXPECT_FALSE(line.contains("eval_loss"));
}

TEST_F(Signals, NobodyReadsTheOutput) {
  if (runShell("python3 -c 'import pty'").exitCode != 0)
    GTEST_SKIP() << "no Python here";
  // A terminal whose other end is held by somebody who never reads.
  writeText(folder / "hold.py", "import os, pty, sys\n"
                                "pid, fd = pty.fork()\n"
                                "if pid == 0:\n"
                                "    os.execv(sys.argv[2], sys.argv[2:])\n"
                                "open(sys.argv[1], 'w').write(str(pid))\n"
                                "print('status', os.waitpid(pid, 0)[1])\n");
  json manifest = tinyManifest(2, 2);
  addEvaluation(manifest);
  writePackage(package(), manifest);
  writeText(folder / "e", std::string(60, char(3)));
  // Two lines per step are far more than a terminal and the run's own buffer hold.
  std::string lines = "$(cat " + (folder / "m") + " 2>/dev/null | wc -l)";
  RunResult run = runShell("timeout 30 python3 " + (folder / "hold.py") + " " + (folder / "pid") +
                           " " PAR_RUN " " + package() + " --steps 100000000 --checkpoint " + checkpoints() +
                           " --eval-every 1 --eval-data " + (folder / "e") + " --metrics " + (folder / "m") +
                           " & until [ " + lines +
                           " -gt 4000 ] || ! kill -0 $! 2>/dev/null; do sleep 0.1; done; kill -TERM $(cat " +
                           (folder / "pid") + "); wait $!");
  expectPart(run, "status 256"); // it ended by itself, with 1
  EXPECT_FALSE(std::filesystem::is_empty(checkpoints()));
}
