// Ranks that are processes of mpirun: the same bytes as threads, and every kind of end.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "comm/mpi/MpiMessages.h"

#include <gtest/gtest.h>

#include <set>

using namespace par::test;
using nlohmann::json;

namespace {

class MpiRun : public testing::Test {
protected:
  void SetUp() override {
#ifdef PAR_SANITIZE
    GTEST_SKIP() << "Open MPI is not instrumented: its own threads and memory would be reported";
#endif
    if (!par::comm::builtWithMpi() || runShell("command -v mpirun").exitCode != 0)
      GTEST_SKIP() << "Open MPI is not installed";
    writePackage(folder / "p/tiny.par", tinyManifest(2, 2));
    std::filesystem::create_directories(folder / "out");
  }
  /// Runs in the empty folder "out".
  RunResult mpirun(int processes, const std::string &command, const std::string &environment = "") {
    return runShell("cd " + (folder / "out") +
                    // What tells a test program which share of its tests to run is not meant for the one that
                    // is started here.
                    " && unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX GTEST_OUTPUT && OMPI_ALLOW_RUN_AS_ROOT=1 "
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " +
                    environment + " timeout 400 mpirun --oversubscribe -np " + std::to_string(processes) +
                    " " + command);
  }
  void expectError(int processes, const std::string &arguments, const std::string &part,
                   const std::string &environment = "") {
    RunResult run = mpirun(processes, std::string(PAR_RUN) + " " + arguments, environment);
    EXPECT_NE(run.exitCode, 0) << run.output;
    EXPECT_EQ(count(run.output, "error: "), 1) << run.output;
    EXPECT_NE(run.output.find(part), std::string::npos) << run.output << "expected: " << part;
    EXPECT_TRUE(std::filesystem::is_empty(folder / "out")) << run.output;
    output = run.output, seconds = run.seconds;
  }
  std::string package() const { return folder / "p/tiny.par"; }

  TemporaryFolder folder;
  std::string output;
  double seconds = 0;
  const std::string all = " --steps 3 --metrics m --save-params p --save-grads g ";
};

} // namespace

TEST_F(MpiRun, ConformanceSuite) {
  RunResult run = mpirun(8, PAR_MPI_CONFORMANCE);
  EXPECT_EQ(run.exitCode, 0) << run.output;
  EXPECT_NE(run.output.find("Traffic.BytesHandedOverAreThoseOfARing/mpi_4_all_reduce"), std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("Conformance.GroupsInTheirOwnOrder/mpi_4_permute"), std::string::npos)
      << run.output;
}

TEST_F(MpiRun, SameBytesAsThreads) {
  std::string flags = package() + " --steps 5 --lr 0.5 --save-params ";
  ASSERT_EQ(parRun(flags + (folder / "local")).exitCode, 0);
  for (const char *name : {"mpi", "again", "unmapped", "started"}) {
    writePackage(package(), tinyManifest(2, 2, name == std::string("started")));
    RunResult run =
        mpirun(4, std::string(PAR_RUN) + " " + flags + (folder / name) + " --metrics " + (folder / "m"),
               name == std::string("unmapped") ? "PAR_TEST_DEVICE=unmapped" : "");
    ASSERT_EQ(run.exitCode, 0) << run.output;
    EXPECT_NE(run.output.find("transport mpi: a launcher started this process (OMPI_COMM_WORLD_SIZE=4)"),
              std::string::npos)
        << run.output;
    EXPECT_EQ(readText(folder / name), readText(folder / "local"));
  }
  std::vector<json> lines = metricsOf(folder / "m");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(std::set<int64_t>(lines[0]["pids"].begin(), lines[0]["pids"].end()).size(), 4u);
  EXPECT_EQ(lines[0]["sent_bytes"]["all_reduce:tp"], 4);
  EXPECT_EQ(lines[0]["peak_bytes"], TINY_PEAK);
}

/// Ranks of a stage make their groups without those of other stages.
TEST_F(MpiRun, StagesGiveTheSameBytesAsThreads) {
  writePackage(package(), tinyStages(2, 1, 2));
  std::string flags = package() + " --steps 3 --lr 0.5 --save-params ";
  ASSERT_EQ(parRun(flags + (folder / "local")).exitCode, 0);
  RunResult run = mpirun(4, std::string(PAR_RUN) + " " + flags + (folder / "mpi") + " --metrics " +
                                (folder / "m") + " --checkpoint " + (folder / "ck"));
  ASSERT_EQ(run.exitCode, 0) << run.output;
  EXPECT_EQ(readText(folder / "mpi"), readText(folder / "local"));
  EXPECT_EQ(metricsOf(folder / "m").back()["peaks"], json(std::vector<int>(4, TINY_PEAK)));
}

TEST_F(MpiRun, LauncherOfAPackageIsARank) {
  RunResult run = mpirun(4, package() + "/rank --steps 2 --save-params " + (folder / "x"));
  EXPECT_EQ(run.exitCode, 0) << run.output;
  EXPECT_EQ(count(run.output, "step 2/2"), 1) << run.output;
}

TEST_F(MpiRun, WhatIsWrongBeforeTheFirstStepIsSaidOnce) {
  expectError(3, package() + all,
              "was compiled for 4 ranks, but 3 processes were started (OMPI_COMM_WORLD_SIZE=3); start 4");
  expectError(1, package() + all + "--transport mpi",
              "was compiled for 4 ranks, but 1 process was started (OMPI_COMM_WORLD_SIZE=1); start 4");
  expectError(2, "nowhere.par" + all, "nowhere.par: is no package");
  expectError(2, package() + " --steps", "--steps");
  expectError(4, package() + all + "--data none.txt", "none.txt: cannot be read");
  expectError(2, package() + all + "--transport local", "--transport local runs all ranks in one process");
}

TEST_F(MpiRun, RanksWithOtherPackagesAreRefused) {
  json other = tinyManifest(2, 2);
  other["optimizer"] = "adamw";
  writePackage(folder / "q/tiny.par", other);
  // The shell runs once per process, so every rank may have its own folder and package.
  std::string command = "sh -c 'cd " + (folder / "") +
                        "$([ $OMPI_COMM_WORLD_RANK = 2 ] && echo q || echo p) && exec " PAR_RUN
                        " tiny.par --steps 1'";
  RunResult run = mpirun(4, command);
  EXPECT_NE(run.exitCode, 0);
  EXPECT_EQ(count(run.output, "error: "), 1) << run.output;
  EXPECT_NE(run.output.find("tiny.par: rank 2 on "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("copy the same DIR.par to every machine"), std::string::npos) << run.output;
}

TEST_F(MpiRun, EveryRankHasItsOwnFolder) {
  // Nothing but the package is shared: rank 0 alone writes, into its own folder.
  std::string command = "sh -c 'd=" + (folder / "") + "r$OMPI_COMM_WORLD_RANK && mkdir -p $d && cp -r " +
                        package() +
                        " $d && cd $d && exec ./tiny.par/rank --steps 2 --metrics m --save-params x'";
  RunResult run = mpirun(4, command);
  EXPECT_EQ(run.exitCode, 0) << run.output;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(std::filesystem::exists(folder / ("r" + std::to_string(rank) + "/x")), rank == 0);
    EXPECT_EQ(std::filesystem::exists(folder / ("r" + std::to_string(rank) + "/m")), rank == 0);
  }
}

TEST_F(MpiRun, CheckpointsOfProcessesResumeAsThreads) {
  std::string checkpoints = folder / "c";
  ASSERT_EQ(parRun(package() + " --steps 6 --lr 0.5 --save-params " + (folder / "whole")).exitCode, 0);
  RunResult run =
      mpirun(4, std::string(PAR_RUN) + " " + package() + " --steps 4 --lr 0.5 --checkpoint " + checkpoints);
  ASSERT_EQ(run.exitCode, 0) << run.output;
  run = parRun(package() + " --steps 6 --lr 0.5 --resume " + checkpoints + " --save-params " +
               (folder / "threads"));
  ASSERT_EQ(run.exitCode, 0) << run.output;
  run = mpirun(4, std::string(PAR_RUN) + " " + package() + " --steps 6 --lr 0.5 --resume " + checkpoints +
                      " --save-params " + (folder / "processes"));
  ASSERT_EQ(run.exitCode, 0) << run.output;
  EXPECT_EQ(readText(folder / "threads"), readText(folder / "whole"));
  EXPECT_EQ(readText(folder / "processes"), readText(folder / "whole"));
}

TEST_F(MpiRun, ARankThatFails) {
  expectError(4, package() + all, "rank 1 failed in step 1, action 2 \"reduce\" (chunk 0)",
              "PAR_TEST_FAULT=fail:rank=1,step=1,action=2");
  EXPECT_NE(output.find("rank 1: step 1, action 2 \"reduce\" (chunk 0)  <- behind"), std::string::npos)
      << output;
  EXPECT_NE(output.find("rank 3: "), std::string::npos) << output;
  EXPECT_LT(seconds, 20);
}

TEST_F(MpiRun, ARankThatStalls) {
  for (int rank : {0, 2}) {
    std::string name = "rank " + std::to_string(rank);
    expectError(4, package() + all + "--timeout 2",
                name + " is behind: nothing was heard for 2 s (--timeout) in step 1, action 1",
                "PAR_TEST_FAULT=stall:rank=" + std::to_string(rank) + ",step=1,action=1");
    EXPECT_NE(output.find(name + ": step 1, action 1 \"forward\" (chunk 0, micro-batch 1)  <- behind"),
              std::string::npos)
        << output;
    EXPECT_LT(seconds, 20);
  }
}

TEST_F(MpiRun, AProcessThatIsKilledEndsAll) {
  for (auto [victim, started] : {std::pair(2, false), std::pair(0, false), std::pair(2, true)}) {
    writePackage(package(), tinyManifest(2, 2, started));
    std::string metrics = folder / "p/m", pids = folder / "p/pids";
    std::filesystem::remove(metrics);
    // The launcher's processes are read from the metrics, one is killed, then none may be left, 10 s later at
    // most.
    std::string script =
        "( OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun --oversubscribe -np "
        "4 " PAR_RUN " " +
        package() + " --steps 1000000000 --save-params x --metrics " + metrics + " ) & until [ -s " +
        metrics + " ] || ! kill -0 $!; do sleep 0.1; done; head -n 1 " + metrics +
        " | sed 's/.*pids\":.//; s/].*//' | tr ',' '\\n' > " + pids + "; kill -9 $(sed -n " +
        std::to_string(victim + 1) + "p " + pids + "); wait $!; echo code $?; for p in $(cat " + pids +
        "); do for i in $(seq 50); do grep -qs '^State:.[^Z]' /proc/$p/status || continue 2; sleep 0.2; "
        "done; " +
        "echo left over $p; done";
    RunResult run = runShell("cd " + (folder / "out") + " && " + script);
    EXPECT_EQ(run.output.find("code 0"), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("left over"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("error: rank " + std::to_string(victim) + " is gone: its process ended"),
              std::string::npos)
        << run.output;
    EXPECT_FALSE(std::filesystem::exists(folder / "out/x")) << run.output;
    EXPECT_LT(run.seconds, 30);
  }
}

/// mpirun wakes up what was stopped, to end it: rank 0 then blames none of those that waited for it.
TEST_F(MpiRun, Rank0ThatIsStoppedIsTheOnlyOneToBlame) {
  std::string metrics = folder / "m";
  RunResult run = runShell(
      "cd " + (folder / "out") +
      " && ( OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun --oversubscribe -np "
      "4 " PAR_RUN " " +
      package() + " --steps 1000000000 --timeout 2 --metrics " + metrics + " ) & until [ -s " + metrics +
      " ] || ! kill -0 $!; do sleep 0.1; done; kill -STOP $(head -n 1 " + metrics +
      " | sed 's/.*pids\":.//; s/,.*//'); wait $!; echo code $?");
  EXPECT_EQ(run.output.find("code 0"), std::string::npos) << run.output;
  EXPECT_EQ(count(run.output, "error: "), 1) << run.output;
  EXPECT_EQ(count(run.output, "error: rank 0 is gone: nothing was heard of its process for 2 s"), 1)
      << run.output;
  EXPECT_LT(run.seconds, 40);
}

TEST_F(MpiRun, ASignalToMpirunSaves) {
  // mpirun stops to read what ranks print when it gets the signal.
  std::string metrics = folder / "m", checkpoints = folder / "c";
  RunResult run = runShell(
      "cd " + (folder / "out") +
      " && ( OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun "
      "--oversubscribe --mca odls_base_sigkill_timeout 4 -np 4 " PAR_RUN " " +
      package() + " --steps 100000000 --checkpoint " + checkpoints + " --metrics " + metrics +
      " & until [ $(cat " + metrics +
      " 2>/dev/null | wc -l) -gt 2000 ] || ! kill -0 $! 2>/dev/null; do sleep 0.1; done; pkill -TERM -P "
      "$! mpirun; wait $! )");
  EXPECT_NE(run.exitCode, 0) << run.output;
  ASSERT_TRUE(std::filesystem::exists(checkpoints)) << run.output;
  char name[32];
  std::snprintf(name, sizeof(name), "step-%08d", metricsOf(metrics).back()["step"].get<int>());
  EXPECT_TRUE(std::filesystem::exists(checkpoints + "/" + name)) << run.output;
}
