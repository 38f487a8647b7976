// Ranks that are processes which nothing but RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT brings together,
// each in a folder of its own.
#include "TinyPackage.h"

#include <gtest/gtest.h>

using namespace par::test;

namespace {

class TcpRun : public testing::Test {
protected:
  void SetUp() override {
    usePackage(false);
    port = std::to_string(freePort());
    for (int rank = 0; rank < 4; ++rank)
      std::filesystem::create_directories(folder / ("r" + std::to_string(rank)));
  }
  void usePackage(bool started) {
    for (const std::string &copy :
         {std::string(""), std::string("r0/"), std::string("r1/"), std::string("r2/"), std::string("r3/")})
      std::filesystem::remove_all(folder / (copy + "tiny.par"));
    writePackage(folder / "tiny.par", tinyManifest(2, 2, started));
  }
  /// Starts the given ranks, each in its folder with the package copied there; the output ends with a line
  /// "rank CODE" for each.
  RunResult run(const std::string &ranks, const std::string &variables, const std::string &flags) {
    return runShell("cd " + folder.root() + "; for r in " + ranks +
                    "; do ( cp -r tiny.par r$r && cd r$r && RANK=$r " + variables +
                    " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + " timeout 60 ./tiny.par/rank " + flags +
                    " ; echo $r code $? ) & done; wait");
  }
  void expectFailuresAreNamed();

  TemporaryFolder folder;
  std::string port;
};

} // namespace

TEST_F(TcpRun, SameBytesAsThreads) {
  ASSERT_EQ(
      parRun((folder / "tiny.par") + " --steps 5 --lr 0.5 --save-params " + (folder / "local")).exitCode, 0);
  for (bool started : {false, true}) {
    usePackage(started);
    RunResult result = run("3 1 0 2", "WORLD_SIZE=4", "--steps 5 --lr 0.5 --save-params x --metrics m");
    EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
    EXPECT_NE(result.output.find("transport tcp: a launcher started this process (WORLD_SIZE=4)"),
              std::string::npos)
        << result.output;
    EXPECT_EQ(readText(folder / "r0/x"), readText(folder / "local"));
    EXPECT_EQ(metricsOf(folder / "r0/m").size(), 5u);
    EXPECT_FALSE(std::filesystem::exists(folder / "r1/x"));
  }
}

TEST_F(TcpRun, OnADeviceWhoseAddressesAreNotMapped) {
  ASSERT_EQ(
      parRun((folder / "tiny.par") + " --steps 5 --lr 0.5 --save-params " + (folder / "local")).exitCode, 0);
  usePackage(true);
  RunResult result =
      run("0 1 2 3", "WORLD_SIZE=4 PAR_TEST_DEVICE=unmapped", "--steps 5 --lr 0.5 --save-params x");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  EXPECT_EQ(readText(folder / "r0/x"), readText(folder / "local"));
}

TEST_F(TcpRun, RanksByHand) {
  RunResult result = runShell("cd " + folder.root() + "; export MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
                              "; for r in 0 1 2 3; do ./tiny.par/rank --rank $r --steps 2 & done; wait");
  EXPECT_EQ(count(result.output, "step 2/2"), 1) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 0) << result.output;
}

TEST_F(TcpRun, ARankThatNeverComesIsNamed) {
  RunResult result = run("0 1 3", "WORLD_SIZE=4", "--steps 5 --timeout 2");
  EXPECT_EQ(count(result.output, "code 1"), 3) << result.output;
  EXPECT_NE(result.output.find("error: rank 2 did not connect in time"), std::string::npos) << result.output;
  EXPECT_LT(result.seconds, 20);
}

TEST_F(TcpRun, TwoProcessesWithOneRank) {
  RunResult result = runShell(
      "cd " + folder.root() + "; export WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
      "; for r in 0 1 1; do ( RANK=$r ./tiny.par/rank --steps 5 --timeout 10; echo code $? ) & done; wait");
  EXPECT_EQ(count(result.output, "code 1"), 3) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  EXPECT_NE(result.output.find("two processes are rank 1; give every process its own RANK"),
            std::string::npos)
      << result.output;
}

TEST_F(TcpRun, RanksWithOtherFlagsOrDataAreRefused) {
  for (int rank = 0; rank < 4; ++rank) // a stale copy on one machine
    writeText(folder / ("r" + std::to_string(rank) + "/data"),
              std::string(99, char(rank == 2 ? 1 : 2)) + std::string(99, 3));
  auto expect = [&](const std::string &all, const std::string &ofRank2, const std::string &part) {
    RunResult result =
        run("0 1 2 3", "WORLD_SIZE=4", "--timeout 40 " + all + " $([ $r = 2 ] && echo \"" + ofRank2 + "\")");
    EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
    EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
    EXPECT_NE(result.output.find("error: " + part), std::string::npos)
        << result.output << "expected: " << part;
    EXPECT_EQ(count(result.output, "step 1/"), 0) << result.output;
  };
  expect("--steps 3", "--lr 0.5", "--lr: rank 2 on ");
  expect("--steps 3", "--seed 7", "--seed: rank 2 on ");
  expect("--steps 3", "--save-params x", "--save-params: rank 2 on ");
  expect("--steps 3", "--checkpoint c", "--checkpoint: rank 2 on ");
  expect("--steps $([ $r = 2 ] && echo 5 || echo 3)", "", "--steps: rank 2 on ");
  expect("--steps 3 --data data", "", "--data: rank 2 on ");
}

/// Another run may have saved more when a rank looks for the latest one.
TEST_F(TcpRun, AllResumeWhatRank0Found) {
  ASSERT_EQ(
      parRun((folder / "tiny.par") + " --steps 2 --checkpoint-every 1 --checkpoint " + (folder / "more"))
          .exitCode,
      0);
  std::filesystem::create_directories(folder / "less");
  std::filesystem::copy(folder / "more/step-00000001", folder / "less/step-00000001",
                        std::filesystem::copy_options::recursive);
  RunResult result = run("0 1 2 3", "WORLD_SIZE=4",
                         "--steps 3 --timeout 40 --resume ../$([ $r = 2 ] && echo more || echo less)");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  EXPECT_EQ(count(result.output, "step 2/3"), 1) << result.output;
}

TEST_F(TcpRun, ARankThatIsKilledWhileOthersGatherIsNamedOnce) {
  // Rank 3 is not started. Ranks 1 and 2 have come when two connections to the port stand; then rank 2 is
  // killed.
  char hex[16];
  std::snprintf(hex, sizeof(hex), ":%04X", unsigned(std::stoi(port)));
  RunResult result =
      runShell("cd " + folder.root() + "; export WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
               "; for r in 0 1; do ( RANK=$r ./tiny.par/rank --steps 5; echo code $? ) & done; "
               "RANK=2 ./tiny.par/rank --steps 5 & victim=$!; "
               "until [ $(awk '$2 ~ /" +
               hex +
               "$/ && $4 == \"01\"' /proc/net/tcp | wc -l) = 2 ]; do "
               "kill -0 $victim || break; sleep 0.1; done; sleep 1; kill -9 $victim; wait");
  EXPECT_EQ(count(result.output, "code 1"), 2) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  EXPECT_NE(result.output.find("error: rank 2 is gone before the first step"), std::string::npos)
      << result.output;
  EXPECT_LT(result.seconds, 60); // --timeout is 300
}

TEST_F(TcpRun, ARankThatIsKilledLaterIsSaidToBeWhereItWas) {
  RunResult result =
      runShell("cd " + folder.root() + "; export WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
               "; for r in 0 1 2 3; do ( RANK=$r ./tiny.par/rank --steps 1000000000 --metrics m$r; echo code "
               "$? ) & done; "
               "until [ $(cat m0 2>/dev/null | wc -l) -gt 20 ] || ! kill -0 $!; do sleep 0.01; done; "
               "kill -9 $(head -n 1 m0 | sed 's/.*pids\":.//; s/].*//' | cut -d, -f3); wait");
  EXPECT_EQ(count(result.output, "code 1\n"), 3) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  EXPECT_NE(result.output.find("error: rank 2 is gone: its process ended, "), std::string::npos)
      << result.output;
  EXPECT_EQ(result.output.find("before step 1"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("has finished"), std::string::npos) << result.output;
  EXPECT_LT(result.seconds, 60);
}

TEST_F(TcpRun, TheSecretLiesInTheUsersFolderWhileTheRanksMeet) {
  std::filesystem::create_directories(folder / "run");
  RunResult result = runShell("chmod 700 " + (folder / "run"));
  result = run("0 1 2 3", "WORLD_SIZE=4 XDG_RUNTIME_DIR=" + (folder / "run"), "--steps 2");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  EXPECT_TRUE(std::filesystem::is_empty(folder / "run"));
}

TEST_F(TcpRun, SecretsThatDiffer) {
  for (int rank = 0; rank < 4; ++rank)
    writeText(folder / ("r" + std::to_string(rank) + "/secret"), std::string(32, char('a' + (rank == 1))));
  runShell("chmod 600 " + folder.root() + "/r*/secret");
  RunResult result = run("0 1 2 3", "WORLD_SIZE=4 PAR_SECRET_FILE=secret", "--steps 2 --timeout 8");
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_NE(result.output.find("does not know this job's secret"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("error: rank 1 did not connect in time"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("did not know the secret: see PAR_SECRET_FILE"), std::string::npos)
      << result.output;
}

void TcpRun::expectFailuresAreNamed() {
  RunResult result =
      run("0 1 2 3", "WORLD_SIZE=4 PAR_TEST_FAULT=fail:rank=1,step=2,action=2", "--steps 5 --save-params x");
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  EXPECT_NE(result.output.find("error: rank 1 failed in step 2, action 2 \"reduce\""), std::string::npos)
      << result.output;
  // Processes must find each other within the timeout too, instrumented ones on a busy machine as well.
  result = run("0 1 2 3", "WORLD_SIZE=4 PAR_TEST_FAULT=stall:rank=3,step=2,action=1",
               "--steps 5 --save-params x --timeout 6");
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  EXPECT_NE(result.output.find("error: rank 3 is behind: nothing was heard for 6 s"), std::string::npos)
      << result.output;
  EXPECT_LT(result.seconds, 40);
}

TEST_F(TcpRun, ARankThatFailsOrStalls) { expectFailuresAreNamed(); }

TEST_F(TcpRun, ARankThatFailsOrStallsWhileCollectivesRun) {
  usePackage(true);
  expectFailuresAreNamed();
}

TEST_F(TcpRun, TwoMachines) {
  // Two network namespaces with one cable between stand for two machines, each with its own address, name and
  // folders.
  std::string a = "para" + port, b = "parb" + port, cut = "ip netns del " + a + "; ip netns del " + b;
  RunResult made = runShell(
      "ip netns add " + a + " && ip netns add " + b + " && ip link add va" + port +
      " type veth peer name vb" + port + " && ip link set va" + port + " netns " + a + " && ip link set vb" +
      port + " netns " + b + " && ip -n " + a + " addr add 10.77.0.1/24 dev va" + port + " && ip -n " + b +
      " addr add 10.77.0.2/24 dev vb" + port + " && ip -n " + a + " link set va" + port + " up && ip -n " +
      b + " link set vb" + port + " up && ip -n " + a + " link set lo up && ip -n " + b + " link set lo up");
  if (made.exitCode != 0) {
    runShell(cut);
    GTEST_SKIP() << "network namespaces cannot be made here: " << made.output;
  }
  auto start = [&](const std::string &variables, const std::string &flags, const std::string &meanwhile) {
    return runShell("cd " + folder.root() + "; export WORLD_SIZE=4 MASTER_ADDR=10.77.0.1 MASTER_PORT=" +
                    port + " " + variables + "; for r in 0 1 2 3; do n=" + a + "; [ $r -lt 2 ] || n=" + b +
                    "; ( cp -r tiny.par r$r && cd r$r && RANK=$r timeout 60 ip netns exec $n unshare --uts "
                    "sh -c \"hostname $n && exec "
                    "./tiny.par/rank " +
                    flags + "\"; echo code $? ) & done; " + meanwhile + " wait");
  };
  // Without a secret that both know, the ranks of the second machine say what they need, and nobody waits for
  // rank 0.
  RunResult result = start("", "--steps 3 --timeout 3", "");
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_NE(result.output.find("MASTER_ADDR=10.77.0.1 is another machine's"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("name it in PAR_SECRET_FILE"), std::string::npos) << result.output;
  std::string secret = "PAR_SECRET_FILE=" + (folder / "secret");
  runShell("head -c 32 /dev/urandom > " + (folder / "secret") + "; chmod 600 " + (folder / "secret"));
  result = start(secret, "--steps 3 --save-params x", "");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  EXPECT_NE(result.output.find("each of the 4 ranks is a process, on 2 machines"), std::string::npos)
      << result.output;
  EXPECT_TRUE(std::filesystem::exists(folder / "r0/x"));
  // The cable is pulled: both sides notice, and the lost ranks are named.
  result = start(secret, "--steps 1000000000 --timeout 3 --metrics m",
                 "until [ -s r0/m ]; do sleep 0.1; done; ip -n " + a + " link set va" + port + " down;");
  runShell(cut);
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_NE(result.output.find("error: rank "), std::string::npos) << result.output;
  EXPECT_LT(result.seconds, 20);
}

/// Stops and wakes processes of a job by its log's pids; "stop 1" stops the first of them, rank 0's.
static RunResult runAndDo(const std::string &folder, const std::string &port, const std::string &flags,
                          const std::string &script) {
  return runShell(
      "cd " + folder + "; export MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port +
      "; each() { for p in $(head -n 1 m | sed 's/.*pids\":.//; s/].*//' | cut -d, -f$2 | tr , ' '); "
      "do kill -$1 $p; done; }; stop() { each STOP $1; }; wake() { each CONT $1; }; "
      "for r in 0 1 2 3; do ( timeout 60 ./tiny.par/rank --rank $r --timeout 2 --metrics m " +
      flags + "; echo code $? ) & done; until [ -s m ]; do sleep 0.1; done; " + script + "; wait");
}

/// Who is woken up finds the job ended, and blames nobody: rank 1 has said it.
TEST_F(TcpRun, Rank0ThatWasStoppedBlamesNobody) {
  RunResult result = runAndDo(folder.root(), port, "--steps 1000000000", "stop 1; sleep 4; wake 1");
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  EXPECT_NE(result.output.find("error: rank 0 is gone: nothing was heard of its process for 2 s"),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("they heard nothing of this process, which is rank 0"), std::string::npos)
      << result.output;
  EXPECT_LT(result.seconds, 30);
}

/// Time in which all are stopped, as by Ctrl-Z or a machine that sleeps, is nobody's silence.
TEST_F(TcpRun, AJobThatWasStoppedGoesOn) {
  RunResult result = runAndDo(folder.root(), port, "--steps 1000000000 --checkpoint c",
                              "stop 1-4; sleep 4; wake 1-4; sleep 1; each TERM 1");
  EXPECT_EQ(count(result.output, "go on with --resume c"), 1) << result.output;
  EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  RunResult threads = runShell(
      "cd " + folder.root() +
      "; " PAR_RUN " tiny.par --steps 1000000000 --timeout 2 --metrics t "
      "--checkpoint d & until [ -s t ]; do sleep 0.1; done; kill -STOP $!; sleep 4; kill -CONT $!; sleep "
      "1; kill -TERM $!; wait");
  EXPECT_EQ(count(threads.output, "go on with --resume d"), 1) << threads.output;
  EXPECT_EQ(count(threads.output, "error: "), 1) << threads.output;
}
