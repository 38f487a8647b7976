// par-run on packages for GPUs where each rank is a process with a GPU: NCCL between them, on its stand-in.
#include "FakeProcessManager.h"
#include "TinyCudaPackage.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace par;
using namespace par::test;
using nlohmann::json;

namespace {

class NcclRun : public testing::Test {
protected:
  void SetUp() override {
    writeText(folder / "data.txt", tinyData());
    writeCudaPackage(folder / "tiny.par", cudaManifest(2, 2));
  }

  /// A command for a rank, as TCP launchers start it, far fewer seconds than --timeout. The output ends with
  /// "RANK code CODE" for each.
  RunResult run(const std::string &flags = "", const std::string &environment = "", int ranks = 4,
                const std::string &launcher = "RANK=$r WORLD_SIZE=$n LOCAL_RANK=$r",
                const std::string &meeting = "MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
                                             std::to_string(freePort()),
                const std::string &before = "") {
    return runShell(before + "n=" + std::to_string(ranks) +
                    "; for r in $(seq 0 $((n - 1))); do ( LD_LIBRARY_PATH=" + libraries +
                    " PAR_STANDIN_DEVICES=4 " + launcher + " " + meeting + " " + environment +
                    " timeout 60 " PAR_RUN " " + (folder / "tiny.par") + " --data " + (folder / "data.txt") +
                    " --steps 4 " + flags + " ; echo $r code $? ) & done; wait");
  }
  /// All end, one of them says why.
  void expectError(const RunResult &result, const std::string &part, int ranks = 4) {
    EXPECT_EQ(count(result.output, "code 1"), ranks) << result.output;
    EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
    expectText(result, part);
  }
  static void expectText(const RunResult &result, const std::string &part) {
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output << "expected: " << part;
  }

  TemporaryFolder folder;
  std::string libraries = PAR_STANDIN_DIR;
};

class NcclMeshes : public NcclRun, public testing::WithParamInterface<CudaMesh> {};

/// The same bits as on a CPU, whatever the order of execution: the stand-in adds in the order of members.
TEST_P(NcclMeshes, EqualTheCpu) {
  int ranks = GetParam().dp * GetParam().tp;
  expectStepsOfTheCpu(folder, GetParam(), [&](const std::string &flags, const std::string &environment) {
    RunResult gpu = run("--transport nccl" + flags, environment, ranks);
    ASSERT_EQ(count(gpu.output, "code 0"), ranks) << gpu.output;
    EXPECT_NE(gpu.output.find("transport nccl, and tcp between hosts: "), std::string::npos) << gpu.output;
  });
}

INSTANTIATE_TEST_SUITE_P(Runtime, NcclMeshes,
                         testing::Values(CudaMesh{2, 1, "train"}, CudaMesh{1, 3, "train"},
                                         CudaMesh{2, 2, "train"}, CudaMesh{2, 2, "overlapped"}),
                         [](const auto &info) { return nameOf(info.param); });

/// What other launchers say of ranks. Packages for GPUs mean NCCL, and --transport nccl that no MPI is
/// wanted.
TEST_F(NcclRun, VariablesOfLaunchers) {
  auto expectNccl = [](const RunResult &result) {
    EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
    expectText(result, "transport nccl, and tcp between hosts: ");
  };
  for (const char *launcher : {"SLURM_STEP_NUM_TASKS=$n SLURM_PROCID=$r SLURM_LOCALID=$r",
                               "RANK=$r WORLD_SIZE=$n TORCHELASTIC_USE_AGENT_STORE=True"})
    expectNccl(run("", "", 4, launcher));
  for (const char *launcher : {"PMI_SIZE=$n PMI_RANK=$r", "OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_RANK=$r"})
    expectNccl(run("--transport nccl", "", 4, launcher));
}

/// Nothing but the launcher's own variables says where the ranks meet.
TEST_F(NcclRun, RanksMeetByVariablesOfLaunchers) {
  std::string job = std::to_string(freePort());
  for (const std::string &launcher :
       {"SLURM_STEP_NUM_TASKS=$n SLURM_PROCID=$r SLURM_STEP_NODELIST=127.0.0.1 SLURM_JOB_ID=" + job,
        "OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_LOCAL_SIZE=$n PMIX_NAMESPACE=" +
            job}) {
    RunResult result = run("--transport nccl", "", 4, launcher, "");
    EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  }
}

/// Under Hydra what rank 0 says goes over its process manager.
TEST_F(NcclRun, RanksMeetByAProcessManager) {
  FakeProcessManager manager({4, 1024, {}, false});
  RunResult result = run("--transport nccl", "$(eval echo PMI_FD=\\$fd$r)", 4, "env PMI_SIZE=$n PMI_RANK=$r",
                         "", manager.shellVariables());
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  expectText(result, "transport nccl, and tcp between hosts: a launcher started this process (PMI_SIZE=4)");
}

TEST_F(NcclRun, CheckpointsAndEvaluationGoOverTheHosts) {
  RunResult result = run("--checkpoint " + (folder / "ck") + " --checkpoint-every 2");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  result = run("--checkpoint " + (folder / "ck") + " --resume latest");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
}

TEST_F(NcclRun, FewerGpusThanRanksAreTold) {
  expectError(run("", "PAR_STANDIN_DEVICES=3"),
              "has target cuda and needs a GPU for each rank, but rank 3 on ");
  expectError(run("", "PAR_STANDIN_DEVICES=3"), " finds none that is free: 4 ranks run there, on 3 GPUs; ");
}

TEST_F(NcclRun, TooLittleMemoryIsTold) {
  RunResult result = run("", "PAR_STANDIN_MEMORY=1000");
  expectError(result, "1 rank needs arenas of 1024 bytes each, and 256 bytes each beside them, on GPU ");
  expectText(
      result,
      " (stand-in), which has 1000 bytes, all of them free; use a smaller model or batch, or more ranks");
}

TEST_F(NcclRun, AMissingLibraryIsTold) {
  libraries = folder / "lib";
  std::filesystem::create_directories(libraries);
  std::filesystem::copy_file(PAR_STANDIN_DIR "/libcuda.so.1", folder / "lib/libcuda.so.1");
  writeText(folder / "lib/libnccl.so.2", "no library"); // in front of one that the machine may have
  expectError(run(), "needs libnccl.so.2: ");
  RunResult result = run();
  expectText(result, "; install NVIDIA's NCCL (libnccl2), ");
}

TEST_F(NcclRun, AnOldLibraryIsTold) {
  expectError(run("", "PAR_STANDIN_NCCL=21803"),
              "libnccl.so.2 is NCCL 2.18.3, older than 2.19.0; install a newer NVIDIA's NCCL (libnccl2)");
}

/// The sum of two numbers has one order, that of four has not.
TEST_F(NcclRun, SumsOfManyAreNotDeterministic) {
  RunResult refused = run("--deterministic");
  expectError(refused, "error: --deterministic: ");
  expectText(refused,
             " has all_reduce over 4 ranks, whose numbers NCCL adds up in an order of its own, and ");
  writeCudaPackage(folder / "tiny.par", cudaManifest(2, 1));
  RunResult result = run("--deterministic", "", 2);
  EXPECT_EQ(count(result.output, "code 0"), 2) << result.output;
  expectText(result, "deterministic: all sums have one order");
}

TEST_F(NcclRun, PackagesOfTheOtherKindAreTold) {
  writePackage(folder / "tiny.par", tinyManifest(2, 2));
  expectError(run("--transport nccl"), "--transport nccl moves memory of GPUs, but ");
}

TEST_F(NcclRun, WithoutALauncherItIsTold) {
  RunResult result =
      parRun((folder / "tiny.par") + " --data " + (folder / "data.txt") + " --steps 1 --transport nccl",
             "LD_LIBRARY_PATH=" PAR_STANDIN_DIR);
  EXPECT_EQ(result.exitCode, 1);
  expectText(result, "error: --transport nccl needs a process with a GPU for each rank; start them "
                     "with mpirun, srun or torchrun, or leave it out");
}

/// What NCCL says of a communicator while everyone waits for a GPU.
TEST_F(NcclRun, AnErrorOfNcclIsTold) {
  RunResult result = run("", "PAR_STANDIN_NCCL_FAULT=error@6:1");
  expectError(result, "rank 1 failed in step ");
  expectText(result, ": NCCL: remote process exited or there was a network error");
  expectText(result, "nccl: rank 1: collective 6: all_reduce of ");
  expectText(result, ": started\n");
}

/// While all wait for each other's splits.
TEST_F(NcclRun, AnErrorOfASplitIsTold) {
  expectError(run("", "PAR_STANDIN_NCCL_FAULT=split@1:1"),
              ": remote process exited or there was a network error");
}

TEST_F(NcclRun, AGpuThatStandsStillIsTold) {
  for (const char *schedule : {"train", "overlapped"}) {
    writeCudaPackage(folder / "tiny.par", cudaManifest(2, 2, schedule));
    RunResult result = run("--timeout 3", "PAR_STANDIN_NCCL_FAULT=stall@5:2");
    expectError(result, " is behind: nothing was heard for 3 s (--timeout) in step ");
    expectText(result, "nccl: rank 2: collective 5: all_reduce of ");
  }
}

/// Rank 0 is told what each process does.
TEST_F(NcclRun, AGpuThatStandsStillBeforeTheFirstStepIsTold) {
  RunResult result = run("--timeout 3", "$([ $r = 2 ] && echo PAR_STANDIN_FAULT=stall@3)", 4,
                         "env RANK=$r WORLD_SIZE=$n LOCAL_RANK=$r");
  expectError(result, "rank 2 failed before step 1, while it prepared its memory: GPU 2 (stand-in): ");
}

TEST_F(NcclRun, ACommunicatorThatDoesNotComeTogetherIsTold) {
  for (const char *fault : {"init@1:3", "init@2:3"}) { // of all ranks, and a part of it
    RunResult result = run("--timeout 3", std::string("PAR_STANDIN_NCCL_FAULT=") + fault);
    EXPECT_EQ(count(result.output, "code 1"), 4) << result.output;
    EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
  }
}

TEST_F(NcclRun, AProcessThatDiesIsTold) {
  RunResult result = run("", "PAR_TEST_FAULT=kill:rank=2,step=2,action=1");
  EXPECT_EQ(count(result.output, "code 1\n"), 3) << result.output;
  EXPECT_EQ(count(result.output, "code 137"), 1) << result.output;
  expectText(result, "rank 2 is gone: ");
}

} // namespace
