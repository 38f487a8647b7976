// Which launcher started a process, and which transport that means.
#include "core/Launch.h"
#include "core/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <vector>

using namespace par::rt;

namespace {

class LaunchVariables : public testing::Test {
protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char *name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "WORLD_SIZE", "RANK", "PMI_SIZE", "PMI_RANK",
          "PMIX_RANK", "PMI_FD", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_NTASKS",
          "SLURM_STEP_NODELIST", "SLURM_JOB_ID", "SLURM_STEP_ID", "OMPI_COMM_WORLD_LOCAL_SIZE",
          "PMIX_NAMESPACE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE"})
      unsetenv(name);
  }
  static Launch with(const std::map<std::string, std::string> &variables) {
    clear();
    for (const auto &[name, value] : variables)
      setenv(name.c_str(), value.c_str(), 1);
    return findLaunch();
  }
  static std::string problem(const std::map<std::string, std::string> &variables, TransportKind kind) {
    try {
      chooseTransport(with(variables), kind);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
};

using Variables = std::map<std::string, std::string>;
const Variables ompi = {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}};
const Variables torchrun = {
    {"WORLD_SIZE", "8"}, {"RANK", "5"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
const Variables srun = {{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"PMIX_RANK", "1"}};
const Variables batchScript = {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}};

} // namespace

TEST_F(LaunchVariables, EveryLauncherIsKnown) {
  EXPECT_EQ(with({}).size, 0);
  EXPECT_EQ(chooseTransport(with({}), TransportKind::automatic), TransportKind::local);
  Launch launch = with(ompi);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.by, "OMPI_COMM_WORLD_SIZE=4");
  EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), TransportKind::mpi);
  launch = with(torchrun);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.address, "node1");
  EXPECT_EQ(launch.port, 29500);
  EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), TransportKind::tcp);
  EXPECT_EQ(chooseTransport(with(srun), TransportKind::automatic), TransportKind::mpi);
  EXPECT_EQ(chooseTransport(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}), TransportKind::automatic),
            TransportKind::mpi);
  EXPECT_EQ(chooseTransport(with(batchScript), TransportKind::automatic), TransportKind::local);
  EXPECT_EQ(chooseTransport(with({{"WORLD_SIZE", "1"}, {"RANK", "0"}}), TransportKind::automatic),
            TransportKind::local);
}

TEST_F(LaunchVariables, TheInnermostLauncherCounts) {
  Variables both = ompi;
  both.insert(torchrun.begin(), torchrun.end());
  both.insert(srun.begin(), srun.end());
  EXPECT_EQ(with(both).size, 4);
  both = torchrun;
  both.insert(batchScript.begin(), batchScript.end());
  EXPECT_EQ(with(both).size, 8);
}

TEST_F(LaunchVariables, AgentsOfTorchrunKeepThePort) {
  Variables elastic = torchrun;
  elastic["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(with(elastic).port, 29501);
}

TEST_F(LaunchVariables, ContradictionsAreNamed) {
  EXPECT_NE(problem(ompi, TransportKind::local).find("one of several (OMPI_COMM_WORLD_SIZE=4)"),
            std::string::npos);
  EXPECT_NE(problem({}, TransportKind::mpi).find("needs mpirun"), std::string::npos);
  EXPECT_NE(problem({}, TransportKind::tcp).find("needs RANK, WORLD_SIZE"), std::string::npos);
  EXPECT_NE(problem({{"WORLD_SIZE", "2"}, {"RANK", "1"}}, TransportKind::automatic).find("set MASTER_ADDR"),
            std::string::npos);
  EXPECT_EQ(problem(torchrun, TransportKind::tcp), "");
  EXPECT_THROW(with({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), Error);
  EXPECT_THROW(with({{"WORLD_SIZE", "two"}, {"RANK", "0"}}), Error);
}

/// PMI_FD is the process manager of PMI_SIZE's launcher, which carries where rank 0 is: no MPI is needed.
TEST_F(LaunchVariables, AProcessManagerBringsProcessesTogether) {
  Variables hydra = {{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "7"}};
  EXPECT_EQ(with(hydra).processManager, 7);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::automatic), TransportKind::mpi);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::nccl), TransportKind::tcp);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::tcp), TransportKind::tcp);
  EXPECT_EQ(launchByHand(with(hydra), 1, 4).processManager, -1);
  hydra["PMI_FD"] = "none";
  EXPECT_THROW(with(hydra), Error);
  Variables other = torchrun;
  other["PMI_FD"] = "7";
  EXPECT_EQ(with(other).processManager, -1);
  hydra.erase("PMI_FD");
  EXPECT_EQ(with(hydra).processManager, -1);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::nccl), TransportKind::mpi);
}

/// GPUs talk by NCCL. Hosts need no MPI where the launcher's variables say where rank 0 is.
TEST_F(LaunchVariables, HostsMeetWithoutMpi) {
  auto meeting = [](Variables variables) { return meetWithoutMpi(with(variables)); };
  Variables slurm = {{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}, {"SLURM_JOB_ID", "77"}};
  for (const auto &[nodes, first] : Variables{
           {"node[07-09,12],other", "node07"}, {"gpu[3,5]", "gpu3"}, {"a,b", "a"}, {"single", "single"}}) {
    slurm["SLURM_STEP_NODELIST"] = nodes;
    EXPECT_EQ(meeting(slurm).address, first);
  }
  int port = meeting(slurm).port;
  EXPECT_GE(port, 20000);
  EXPECT_LT(port, 30000);
  slurm["SLURM_PROCID"] = "2";
  EXPECT_EQ(meeting(slurm).port, port);
  slurm["SLURM_STEP_ID"] = "1";
  EXPECT_NE(meeting(slurm).port, port);
  EXPECT_EQ(chooseTransport(meeting(slurm), TransportKind::nccl), TransportKind::tcp);
  Variables mpirun = {{"OMPI_COMM_WORLD_SIZE", "4"},
                      {"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                      {"PMIX_NAMESPACE", "123"}};
  EXPECT_EQ(meeting(mpirun).address, "127.0.0.1");
  mpirun["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2"; // on two machines MPI carries where rank 0 is
  EXPECT_EQ(meeting(mpirun).address, "");
  EXPECT_EQ(chooseTransport(meeting(mpirun), TransportKind::nccl), TransportKind::mpi);
  EXPECT_EQ(meeting(torchrun).address, "node1");
  EXPECT_EQ(meeting(torchrun).port, 29500);
  EXPECT_NE(problem({}, TransportKind::nccl).find("needs a process with a GPU for each rank"),
            std::string::npos);
}
