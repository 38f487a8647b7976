// The scripts of examples/launch. Slurm's commands are stood in for by small scripts that set what srun sets.
#include "TinyPackage.h"
#include "comm/mpi/MpiMessages.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace par::test;

namespace {

class LaunchScripts : public testing::Test {
protected:
  void SetUp() override {
    writePackage(folder / "tiny.par", tinyManifest(2, 2));
    port = std::to_string(freePort());
  }
  RunResult run(const std::string &variables, const std::string &command) {
    return runShell("cd " + folder.root() + " && " + variables + " timeout 60 " PAR_EXAMPLES "/" + command);
  }
  void expectComplete(const RunResult &result, const std::string &transport) {
    EXPECT_EQ(result.exitCode, 0) << result.output;
    EXPECT_EQ(count(result.output, "transport " + transport), 1) << result.output;
    EXPECT_EQ(count(result.output, "step 3/3"), 1) << result.output;
    EXPECT_TRUE(std::filesystem::exists(folder / "c/step-00000003/checkpoint.json")) << result.output;
  }

  TemporaryFolder folder;
  std::string port;
  const std::string flags = "tiny.par --steps 3 --checkpoint c --resume latest";
};

} // namespace

TEST_F(LaunchScripts, Processes) {
  expectComplete(run("PORT=" + port, "processes.sh " + flags), "tcp");
  RunResult failed =
      run("PORT=" + port + " PAR_TEST_FAULT=fail:rank=1,step=1,action=1", "processes.sh tiny.par --steps 3");
  EXPECT_EQ(failed.exitCode, 1);
  EXPECT_EQ(count(failed.output, "error: "), 1) << failed.output;
}

TEST_F(LaunchScripts, ProcessesPassSignalsOn) {
  RunResult stopped = runShell(
      "cd " + folder.root() + " && { PORT=" + port +
      " timeout 60 " PAR_EXAMPLES "/processes.sh tiny.par --steps 1000000000 --checkpoint c --metrics m & "
      "until [ -s m ] || ! kill -0 $!; do sleep 0.1; done; kill -TERM $!; wait $!; }");
  EXPECT_NE(stopped.exitCode, 0) << stopped.output;
  EXPECT_EQ(count(stopped.output, "go on with --resume c"), 1) << stopped.output;
}

TEST_F(LaunchScripts, ProcessesDoNotWaitForARankThatIsStopped) {
  RunResult run = runShell(
      "cd " + folder.root() + " && { PORT=" + port +
      " timeout 100 " PAR_EXAMPLES "/processes.sh tiny.par --steps 1000000000 --timeout 4 --metrics m & "
      "until [ -s m ] || ! kill -0 $!; do sleep 0.1; done; "
      "kill -STOP $(head -n 1 m | sed 's/.*pids\":.//; s/].*//' | cut -d, -f3); wait $!; echo code $?; }");
  EXPECT_NE(run.output.find("code 1"), std::string::npos) << run.output;
  EXPECT_EQ(count(run.output, "error: "), 1) << run.output;
  EXPECT_NE(run.output.find("error: rank 2 is behind: nothing was heard for 4 s"), std::string::npos)
      << run.output;
  EXPECT_LT(run.seconds, 60);
}

TEST_F(LaunchScripts, Mpirun) {
#ifdef PAR_SANITIZE
  GTEST_SKIP() << "Open MPI is not instrumented";
#endif
  if (!par::comm::builtWithMpi() || runShell("command -v mpirun").exitCode != 0)
    GTEST_SKIP() << "Open MPI is not installed";
  std::string root = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MPIRUN_FLAGS=--oversubscribe";
  expectComplete(run(root, "mpirun.sh " + flags), "mpi");
}

TEST_F(LaunchScripts, Slurm) {
  // srun: "--mpi=list" prints; else four tasks of a step, each in a folder of its own that sees the same
  // files.
  writeText(folder / "srun",
            "#!/bin/sh\n[ \"$1\" != --mpi=list ] || { echo 'MPI plugin types are... none pmi2'; exit; }\n"
            "[ \"$1\" = --mpi=none ] && [ \"$2\" = --kill-on-bad-exit=1 ] || exit 9\nshift 2\ncode=0\n"
            "[ \"$(stat -c %a \"$PAR_SECRET_FILE\")\" = 600 ] || exit 8\n"
            "for r in 0 1 2 3; do SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=$r \"$@\" & pids=\"$pids $!\"; done\n"
            "for p in $pids; do wait $p || code=1; done\nexit $code\n");
  writeText(folder / "scontrol",
            "#!/bin/sh\n[ \"$*\" = 'show hostnames node[1-2]' ] && printf 'localhost\\nnode2\\n'\n");
  ASSERT_EQ(runShell("chmod +x " + (folder / "srun") + " " + (folder / "scontrol")).exitCode, 0);
  std::string slurm = "PATH=" + folder.root() + ":$PATH SLURM_JOB_ID=" + std::to_string(getpid()) +
                      " HOME=" + folder.root() +
                      " SLURM_JOB_NODELIST='node[1-2]' SLURM_NTASKS=4 SLURM_PROCID=0";
  expectComplete(run(slurm, "slurm.sbatch " + flags), "tcp");
  // The job that is run again goes on where it was.
  RunResult again = run(slurm, "slurm.sbatch tiny.par --steps 5 --checkpoint c --resume latest");
  EXPECT_EQ(again.exitCode, 0) << again.output;
  EXPECT_NE(again.output.find("resumed from c/step-00000003"), std::string::npos) << again.output;
  EXPECT_EQ(runShell("ls " + folder.root() + "/.par-secret*").exitCode, 2);
}

TEST_F(LaunchScripts, WithoutAPackage) {
  for (const char *script : {"processes.sh", "mpirun.sh nowhere.par", "slurm.sbatch nowhere.par"}) {
    RunResult result = run("", script);
    EXPECT_EQ(result.exitCode, 1) << result.output;
    EXPECT_NE(result.output.find("is no package; give DIR.par first"), std::string::npos) << result.output;
  }
}
