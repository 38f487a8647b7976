// par-run under launchers within launchers. torchrun, which is Python, and srun are stood in for by scripts
// that set what they set; mpirun is the real one.
#include "TinyPackage.h"
#include "comm/mpi/MpiMessages.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace par::test;

namespace {

class LaunchedRun : public testing::Test {
protected:
  void SetUp() override {
    writePackage(folder / "tiny.par", tinyManifest(2, 2));
    port = std::to_string(freePort());
  }
  RunResult run(const std::string &command) {
    return runShell("cd " + folder.root() + " && unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX; " + command);
  }
  /// The command as each of `ranks`, "$r", with the variables.
  RunResult runEach(const std::string &ranks, const std::string &variables, const std::string &flags) {
    return run("for r in " + ranks + "; do ( env " + variables + " timeout 60 " PAR_RUN " tiny.par " + flags +
               "; echo code $? ) & done; wait");
  }
  void expectOneRun(const RunResult &result, const std::string &by) {
    EXPECT_EQ(count(result.output, "transport "), 1) << result.output;
    EXPECT_EQ(count(result.output, "transport tcp: a launcher started this process (" + by + ")"), 1)
        << result.output;
    EXPECT_EQ(count(result.output, "each of the 4 ranks is a process"), 1) << result.output;
    EXPECT_EQ(count(result.output, "step 3/3"), 1) << result.output;
    EXPECT_EQ(readText(folder / "x"), readText(expected())) << result.output;
    std::filesystem::remove(folder / "x");
  }
  std::string expected() {
    std::string path = folder / "threads";
    if (!std::filesystem::exists(path))
      EXPECT_EQ(parRun((folder / "tiny.par") + " --steps 3 --save-params " + path).exitCode, 0);
    return path;
  }
  /// torchrun --nnodes N --node-rank I --nproc-per-node P ...: what it sets for its processes.
  void writeTorchrun() {
    writeText(
        folder / "torchrun",
        "#!/bin/sh\nnodes=$2 node=$4 per=$6 address=$8 port=${10}\nshift 11\ncode=0\n"
        "for l in $(seq 0 $((per - 1))); do\n"
        "  env TORCHELASTIC_RUN_ID=none TORCHELASTIC_USE_AGENT_STORE=True WORLD_SIZE=$((nodes * per)) \\\n"
        "    RANK=$((node * per + l)) LOCAL_RANK=$l LOCAL_WORLD_SIZE=$per GROUP_RANK=$node \\\n"
        "    GROUP_WORLD_SIZE=$nodes MASTER_ADDR=$address MASTER_PORT=$port \"$@\" &\n"
        "  pids=\"$pids $!\"\ndone\nfor p in $pids; do wait $p || code=1; done\nexit $code\n");
    ASSERT_EQ(runShell("chmod +x " + (folder / "torchrun")).exitCode, 0);
  }

  TemporaryFolder folder;
  std::string port;
  const std::string flags = "--steps 3 --timeout 20 --save-params x";
};

} // namespace

/// mpirun's variables are inherited through torchrun, whose ranks are one run.
TEST_F(LaunchedRun, TorchrunsVariablesWithinMpiruns) {
  RunResult result = runEach("3 1 0 2",
                             "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 "
                             "TORCHELASTIC_RUN_ID=x WORLD_SIZE=4 RANK=$r LOCAL_RANK=$r LOCAL_WORLD_SIZE=4 "
                             "MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
                                 port,
                             flags);
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  expectOneRun(result, "WORLD_SIZE=4, not OMPI_COMM_WORLD_SIZE=1");
}

TEST_F(LaunchedRun, TorchrunUnderMpirun) {
  if (!par::comm::builtWithMpi() || runShell("command -v mpirun").exitCode != 0)
    GTEST_SKIP() << "Open MPI is not installed";
  writeTorchrun();
  for (int nodes : {1, 2}) {
    std::string per = std::to_string(4 / nodes);
    RunResult result =
        run("export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; timeout 60 mpirun "
            "--oversubscribe -np " +
            std::to_string(nodes) + " sh -c './torchrun --nnodes " + std::to_string(nodes) +
            " --node-rank $OMPI_COMM_WORLD_RANK --nproc-per-node " + per +
            " --master-addr 127.0.0.1 --master-port " + std::to_string(freePort()) +
            " --no-python " PAR_RUN " tiny.par " + flags + "'");
    EXPECT_EQ(result.exitCode, 0) << result.output;
    expectOneRun(result, "WORLD_SIZE=4, not OMPI_COMM_WORLD_SIZE=" + std::to_string(nodes));
  }
}

/// srun alone brings ranks together: by the step's first machine, and a port that its number gives.
TEST_F(LaunchedRun, SrunAlone) {
  std::string job = "SLURM_JOB_ID=" + std::to_string(getpid()) + " SLURM_NODELIST=n[1-2] SLURM_NTASKS=4 ";
  std::string step = "SLURM_STEP_ID=3 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=n1 SLURM_LOCALID=$r ";
  RunResult result = runEach("2 0 3 1", job + step + "SLURM_PROCID=$r", flags);
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  expectOneRun(result, "SLURM_STEP_NUM_TASKS=4");
  // The script of sbatch is one process.
  RunResult script = runEach("0", job + "SLURM_PROCID=0 SLURM_LOCALID=0", flags);
  EXPECT_EQ(count(script.output, "transport local"), 1) << script.output;
  EXPECT_EQ(readText(folder / "x"), readText(expected()));
}

/// Nobody waits for processes that never come: each says that it is one of another number.
TEST_F(LaunchedRun, AnotherWorldSizeIsSaidByEveryRank) {
  for (const char *size : {"2", "3", "8"}) {
    RunResult result = runEach(
        "0 1", std::string("WORLD_SIZE=") + size + " RANK=$r MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port,
        flags);
    EXPECT_EQ(count(result.output, "code 1"), 2) << result.output;
    EXPECT_EQ(count(result.output, std::string("error: tiny.par: was compiled for 4 ranks, but ") + size +
                                       " processes were started (WORLD_SIZE=" + size + "); start 4"),
              2)
        << result.output;
    EXPECT_LT(result.seconds, 15); // it would wait for --timeout, 20 s
  }
  RunResult byHand = run("WORLD_SIZE=3 timeout 60 " PAR_RUN " tiny.par --rank 1 " + flags);
  EXPECT_EQ(count(byHand.output, "(--rank 1, WORLD_SIZE=3); start 4"), 1) << byHand.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

/// Every process refuses what its launchers say against each other, before it computes or meets anybody.
TEST_F(LaunchedRun, ContradictionsAreSaidByEveryRank) {
  RunResult result =
      runEach("0 1 2 3", "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=$r RANK=$r WORLD_SIZE=8", flags);
  EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
  EXPECT_EQ(count(result.output, "error: OMPI_COMM_WORLD_SIZE=4, OMPI_COMM_WORLD_RANK="), 4) << result.output;
  EXPECT_EQ(count(result.output, "contradict each other"), 4) << result.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

/// Whoever finds no others has nobody to speak for it.
TEST_F(LaunchedRun, WhatVariablesLackIsSaidByEveryRank) {
  struct Row {
    const char *variables, *part;
  };
  const std::string step = "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=$r SLURM_STEP_NUM_TASKS=4 ";
  for (Row row :
       {Row{"SLURM_STEP_NODELIST=a,b", "need a secret that all of them know"},
        Row{"SLURM_STEP_NODELIST='n[1-1000000000000]'", "need a secret that all of them know"},
        Row{"SLURM_STEP_NODELIST='node[[[1-3'",
            "variable SLURM_STEP_NODELIST=node[[[1-3 is no list of machines"},
        Row{"SLURM_STEP_ID=x", "variable SLURM_STEP_ID=x is no number"},
        Row{"-u SLURM_STEP_ID RANK=$r WORLD_SIZE=4", "but not where rank 0 is"},
        Row{"-u SLURM_STEP_ID RANK=$r WORLD_SIZE=4 TORCHELASTIC_RUN_ID=x", "but not where rank 0 is"}}) {
    bool isOfStep = row.variables[0] != '-';
    RunResult result = runEach("0 1 3", isOfStep ? step + row.variables : row.variables, flags);
    EXPECT_EQ(count(result.output, "code 1"), 3) << result.output;
    EXPECT_EQ(count(result.output, "error: "), 3) << result.output;
    EXPECT_EQ(count(result.output, row.part), 3) << result.output;
  }
  RunResult wrong = runEach("0 1 3", "RANK=$r WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=1", "--step 3");
  EXPECT_EQ(count(wrong.output, "error: unknown flag --step;"), 3) << wrong.output;
}

/// Without a process manager, as under MPICH's launcher, Open MPI makes each process a world of its own.
TEST_F(LaunchedRun, ALauncherThatMpiDoesNotKnowIsNamed) {
  if (!par::comm::builtWithMpi() || runShell("command -v mpirun").exitCode != 0)
    GTEST_SKIP() << "Open MPI is not installed";
  RunResult result = runEach("0 1 3", "PMI_RANK=$r PMI_SIZE=4", flags);
  EXPECT_EQ(count(result.output, "code 1"), 3) << result.output;
  EXPECT_EQ(count(result.output, "error: transport mpi: PMI_SIZE=4, but MPI sees 1 process: that launcher"),
            3)
      << result.output;
}

/// Processes of launchers that par does not know would each be a whole run, and write the same files.
TEST_F(LaunchedRun, OtherLaunchersAreRefusedByName) {
  for (const char *variables : {"SLURM_PROCID=$r SLURM_NTASKS=4 SLURM_JOB_ID=7", "TORCHELASTIC_RUN_ID=x",
                                "LOCAL_RANK=$r LOCAL_WORLD_SIZE=4", "MPI_LOCALRANKID=$r MPI_LOCALNRANKS=4",
                                "MV2_COMM_WORLD_RANK=$r MV2_COMM_WORLD_SIZE=4", "PALS_RANKID=$r",
                                "FLUX_TASK_RANK=$r FLUX_JOB_SIZE=4", "JSM_NAMESPACE_RANK=$r"}) {
    RunResult result = runEach("1 3", variables, flags);
    EXPECT_EQ(count(result.output, "code 1"), 2) << variables << "\n" << result.output;
    EXPECT_EQ(count(result.output, "error: "), 2) << result.output;
    EXPECT_EQ(count(result.output, ": env -u "), 2) << result.output;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}
