// Which launcher started a process, and which transport that means.
#include "core/Launch.h"
#include "LaunchVariables.h"
#include "core/Error.h"

#include <gtest/gtest.h>

using namespace par::rt;
using namespace par::test;

namespace {

class LaunchVariables : public testing::Test {
protected:
  void SetUp() override { setOnly({}); }
  void TearDown() override { setOnly({}); }
  static Launch with(const Variables &variables) {
    setOnly(variables);
    return findLaunch();
  }
  static std::string problem(const Variables &variables, TransportKind kind) {
    try {
      chooseTransport(with(variables), kind);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  static void expectTransport(const Launch &launch, const LaunchDraw &draw) {
    try {
      EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), draw.transport);
      EXPECT_EQ(draw.unmet, "");
    } catch (const Error &error) {
      EXPECT_TRUE(!draw.unmet.empty() && std::string(error.what()).find(draw.unmet) != std::string::npos)
          << error.what();
    }
  }
  static void expectProblem(const Variables &variables, const std::string &part) {
    std::string text = problem(variables, TransportKind::automatic);
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
  }
};

Variables together(Variables all, const Variables &more) {
  for (const auto &[name, value] : more)
    all[name] = value;
  return all;
}

const Variables ompi = {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}};
const Variables byHand = {
    {"WORLD_SIZE", "8"}, {"RANK", "5"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
const Variables torchrun = together(byHand, {{"TORCHELASTIC_RUN_ID", "none"}});
const Variables srun = {{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_ID", "0"}};
const Variables pmix = together(srun, {{"PMIX_RANK", "1"}});
const Variables batchScript = {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "77"}};

} // namespace

TEST_F(LaunchVariables, EveryLauncherIsKnown) {
  EXPECT_EQ(with({}).size, 0);
  EXPECT_EQ(chooseTransport(with({}), TransportKind::automatic), TransportKind::local);
  Launch launch = with(ompi);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.by, "OMPI_COMM_WORLD_SIZE=4");
  EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), TransportKind::mpi);
  for (const Variables &variables : {torchrun, byHand}) {
    launch = with(variables);
    EXPECT_EQ(launch.rank, 5);
    EXPECT_EQ(launch.address, "node1");
    EXPECT_EQ(launch.port, 29500);
    EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), TransportKind::tcp);
  }
  EXPECT_EQ(chooseTransport(with(pmix), TransportKind::automatic), TransportKind::mpi);
  EXPECT_EQ(chooseTransport(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}), TransportKind::automatic),
            TransportKind::mpi);
  EXPECT_EQ(chooseTransport(with(batchScript), TransportKind::automatic), TransportKind::local);
  EXPECT_EQ(chooseTransport(with({{"WORLD_SIZE", "1"}, {"RANK", "0"}}), TransportKind::automatic),
            TransportKind::local);
}

/// torchrun and DeepSpeed's launcher are known by their marks; whatever started them is around them.
TEST_F(LaunchVariables, TheInnermostLauncherCounts) {
  Launch launch = with(together(together(torchrun, ompi), srun));
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.by, "WORLD_SIZE=8, not OMPI_COMM_WORLD_SIZE=4, not SLURM_STEP_NUM_TASKS=2");
  EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), TransportKind::tcp);
  EXPECT_EQ(with(together(together(byHand, {{"CROSS_SIZE", "4"}}), ompi)).size, 8);
  EXPECT_EQ(with(together(torchrun, batchScript)).size, 8);
  EXPECT_EQ(with(together(ompi, srun)).size, 4); // srun started mpirun's processes on other machines
}

/// One process adds nothing to the launcher around it, and the address of a torchrun of one is its own.
TEST_F(LaunchVariables, ALauncherOfOneProcessIsPassedOver) {
  Variables one = together(torchrun, {{"WORLD_SIZE", "1"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}});
  Launch launch = with(together(one, ompi));
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.address, "");
  EXPECT_EQ(with(together(srun, {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}})).rank, 1);
  // That mpirun's PMIx is not srun's.
  EXPECT_FALSE(with(together(pmix, {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}})).mpi);
}

TEST_F(LaunchVariables, AgentsOfTorchrunKeepThePort) {
  EXPECT_EQ(with(together(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}})).port, 29501);
  EXPECT_EQ(with(together(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).port, 29500);
}

TEST_F(LaunchVariables, ContradictionsAreNamed) {
  EXPECT_NE(problem(ompi, TransportKind::local).find("one of several (OMPI_COMM_WORLD_SIZE=4)"),
            std::string::npos);
  EXPECT_NE(problem({}, TransportKind::mpi).find("needs mpirun"), std::string::npos);
  EXPECT_NE(problem({}, TransportKind::tcp).find("needs RANK, WORLD_SIZE"), std::string::npos);
  expectProblem({{"WORLD_SIZE", "2"}, {"RANK", "1"}}, "WORLD_SIZE=2 says that this is one of several");
  EXPECT_EQ(problem(torchrun, TransportKind::tcp), "");
  EXPECT_THROW(with({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), Error);
  EXPECT_THROW(with({{"WORLD_SIZE", "two"}, {"RANK", "0"}}), Error);
  EXPECT_THROW(with(together(torchrun, {{"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "2"}})), Error);
  EXPECT_THROW(with(together(torchrun, {{"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "9"}})), Error);
  expectProblem(
      together(byHand, ompi),
      "OMPI_COMM_WORLD_SIZE=4, OMPI_COMM_WORLD_RANK=3 and WORLD_SIZE=8, RANK=5 contradict each other");
  expectProblem(together(byHand, ompi), "env -u WORLD_SIZE -u RANK par-run");
  // Of four torchruns each is a run of its own two processes, and all would write the same files.
  expectProblem(together(torchrun, together(ompi, {{"GROUP_WORLD_SIZE", "1"}})), "contradict each other");
}

/// A size or a rank alone would be one run per process.
TEST_F(LaunchVariables, WhatIsSaidByHalvesIsRefused) {
  expectProblem({{"RANK", "3"}}, "RANK=3 is set, but nothing says how many processes there are");
  expectProblem({{"WORLD_SIZE", "4"}}, "WORLD_SIZE=4 is set, but nothing says which of the processes");
  expectProblem({{"PMIX_RANK", "1"}}, "PMIX_RANK=1 is set");
  EXPECT_EQ(problem({{"WORLD_SIZE", "1"}}, TransportKind::automatic), "");
  expectProblem(together(ompi, {{"RANK", "2"}}), "RANK=2 contradict");
  EXPECT_EQ(problem(together(ompi, {{"WORLD_SIZE", "4"}}), TransportKind::automatic), "");
  Launch launch = launchByHand(with({{"WORLD_SIZE", "4"}}), 3, 2);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(chooseTransport(launch, TransportKind::automatic), TransportKind::tcp);
  EXPECT_EQ(launchByHand(with(srun), 3, 4).size, 4); // the step is that of the shell
}

/// PMI_FD is the process manager of PMI_SIZE's launcher, which carries where rank 0 is: no MPI is needed.
TEST_F(LaunchVariables, AProcessManagerBringsProcessesTogether) {
  Variables hydra = {{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "7"}};
  EXPECT_EQ(with(hydra).processManager, 7);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::automatic), TransportKind::mpi);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::nccl), TransportKind::tcp);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::tcp), TransportKind::tcp);
  EXPECT_EQ(launchByHand(with(hydra), 1, 4).processManager, -1);
  EXPECT_THROW(with(together(hydra, {{"PMI_FD", "none"}})), Error);
  EXPECT_EQ(with(together(torchrun, hydra)).processManager, -1);
  hydra.erase("PMI_FD");
  EXPECT_EQ(with(hydra).processManager, -1);
  EXPECT_EQ(chooseTransport(with(hydra), TransportKind::nccl), TransportKind::mpi);
}

/// The first host of a list is where rank 0 is, whatever brackets stand in its name.
TEST_F(LaunchVariables, ListsOfHosts) {
  struct Row {
    const char *list, *first;
    bool isOnly;
  };
  for (Row row :
       {Row{"node[07-09,12],other", "node07", false}, Row{"gpu[3,5]", "gpu3", false}, Row{"a,b", "a", false},
        Row{"single", "single", true}, Row{"n[4]", "n4", true}, Row{"rack[1-2]n[03-04]", "rack1n03", false},
        Row{"r[1]n[03-04]-ib", "r1n03-ib", false}, Row{"n[1-2].example.org,m", "n1.example.org", false},
        Row{"", "", true}, Row{"n[", "n", true}}) {
    bool isOnly = false;
    EXPECT_EQ(firstHost(row.list, isOnly), row.first);
    EXPECT_EQ(isOnly, row.isOnly) << row.list;
  }
  for (const char *list : {"node[07-09,12],other", "a,b", "n[4]", "rack[1-2]n[03-04]", "r[1]n[03-04]-ib",
                           "n[1-2].example.org,m", "node[1-1000000000000]"})
    EXPECT_TRUE(isHostList(list)) << list;
  for (const char *list : {"node[[[1-3", "n[", "n]", "n[]", "n[1", "n[1,]", "n[-3]", "n[1-]", "n[1]]", "a,,b",
                           "a,", ",", "a b", "a;b", "$(a)", "n[1[2]]"})
    EXPECT_FALSE(isHostList(list)) << list;
}

/// Hosts need no MPI where the launcher's variables say where rank 0 is.
TEST_F(LaunchVariables, HostsMeetWithoutMpi) {
  auto meeting = [](const Variables &variables) { return meetWithoutMpi(with(variables)); };
  Variables slurm = {{"SLURM_STEP_NUM_TASKS", "8"},
                     {"SLURM_PROCID", "5"},
                     {"SLURM_JOB_ID", "77"},
                     {"SLURM_STEP_NODELIST", "node[07-09]"}};
  EXPECT_EQ(meeting(slurm).address, "node07");
  EXPECT_THROW(chooseTransport(meeting(slurm), TransportKind::automatic), Error);
  slurm["PAR_SECRET_FILE"] = "secret";
  EXPECT_EQ(chooseTransport(meeting(slurm), TransportKind::automatic), TransportKind::tcp);
  int port = meeting(slurm).port;
  EXPECT_GE(port, 20000);
  EXPECT_LT(port, 30000);
  slurm["SLURM_PROCID"] = "2";
  EXPECT_EQ(meeting(slurm).port, port);
  slurm["SLURM_STEP_ID"] = "1";
  EXPECT_NE(meeting(slurm).port, port);
  EXPECT_EQ(chooseTransport(meeting(slurm), TransportKind::nccl), TransportKind::tcp);
  slurm["SLURM_STEP_NODELIST"] = "node[[[1-3";
  EXPECT_THROW(meeting(slurm), Error);
  EXPECT_EQ(meeting(together(slurm, {{"MASTER_ADDR", "x"}, {"MASTER_PORT", "5"}})).address, "x");
  slurm["SLURM_STEP_NODELIST"] = "node07"; // nobody outside needs to reach it
  EXPECT_EQ(meeting(slurm).address, "127.0.0.1");
  EXPECT_EQ(meeting(together(slurm, {{"MASTER_ADDR", "x"}, {"MASTER_PORT", "5"}})).address, "x");
  // Slurm says where they meet, too, when a script gave its numbers other names.
  EXPECT_EQ(meeting(together(slurm, {{"WORLD_SIZE", "8"}, {"RANK", "2"}})).address, "127.0.0.1");
  EXPECT_EQ(meeting(together(slurm, {{"PMI_SIZE", "8"}, {"PMI_RANK", "2"}, {"PMI_FD", "3"}})).address,
            "127.0.0.1");
  Variables mpirun = {{"OMPI_COMM_WORLD_SIZE", "4"},
                      {"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                      {"PMIX_NAMESPACE", "123"}};
  EXPECT_EQ(meeting(mpirun).address, "127.0.0.1");
  EXPECT_EQ(chooseTransport(meeting(mpirun), TransportKind::automatic), TransportKind::mpi);
  mpirun["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2"; // on two machines MPI carries where rank 0 is
  EXPECT_EQ(meeting(mpirun).address, "");
  EXPECT_EQ(chooseTransport(meeting(mpirun), TransportKind::nccl), TransportKind::mpi);
  EXPECT_EQ(meeting(torchrun).address, "node1");
  EXPECT_EQ(meeting(torchrun).port, 29500);
  EXPECT_NE(problem({}, TransportKind::nccl).find("needs a process with a GPU for each rank"),
            std::string::npos);
}

/// 2,000 sets of variables, as launchers within launchers leave them, with what is left over of others. What
/// each must do stands in the table of LaunchVariables.cpp.
TEST_F(LaunchVariables, RandomSetsDoWhatTheTableSays) {
  LaunchDraws draws(47);
  std::map<std::string, int> drawn;
  for (int i = 0; i < 2000; ++i) {
    LaunchDraw draw = draws.next();
    ++drawn[draw.situation];
    SCOPED_TRACE(draw.text());
    Launch launch = meetWithoutMpi(with(draw.variables));
    EXPECT_EQ(launch.problem.empty(), draw.refused.empty()) << launch.problem;
    for (const std::string &part : draw.refused)
      EXPECT_NE(launch.problem.find(part), std::string::npos) << launch.problem << "\nexpected: " << part;
    if (draw.refused.empty()) {
      EXPECT_EQ(launch.size, draw.size);
      EXPECT_EQ(launch.rank, draw.rank);
      EXPECT_EQ(launch.address, draw.address);
      expectTransport(launch, draw);
    }
    // What the message says to take away leaves something that is no contradiction.
    for (const Variables &rest : withoutWhatIsNamed(draw.variables, launch.problem))
      EXPECT_EQ(with(rest).problem, "");
    if (HasFailure())
      return;
  }
  EXPECT_EQ(drawn.size(), LaunchDraws::situations());
}

/// A variable that is no number of its kind is named, whichever launcher it belongs to.
TEST_F(LaunchVariables, NumbersThatAreNoneAreNamed) {
  LaunchDraws draws(48);
  for (int i = 0; i < 500; ++i) {
    LaunchDraw draw = draws.next();
    for (const char *name : {"WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "SLURM_STEP_ID"}) {
      if (!draw.variables.count(name))
        continue;
      for (const char *value : {"-1", "x", "1e3", "99999999999999999999"}) {
        try {
          with(together(draw.variables, {{name, value}}));
          ADD_FAILURE() << draw.text() << " with " << name << "=" << value;
        } catch (const Error &error) {
          EXPECT_NE(std::string(error.what()).find(std::string(name) + "=" + value), std::string::npos)
              << error.what();
        }
      }
    }
  }
}
