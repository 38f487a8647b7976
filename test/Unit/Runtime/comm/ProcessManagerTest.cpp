// Ranks that meet by what a launcher's process manager carries (PMI-1).
#include "comm/process/ProcessManager.h"
#include "FakeProcessManager.h"
#include "TinyPackage.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace par;
using namespace par::test;

namespace {

using Options = FakeProcessManager::Options;

/// What each rank has at the end, or why not.
std::vector<std::string> broadcast(const Options &options, const std::string &text, double timeout = 30) {
  FakeProcessManager manager(options);
  std::vector<std::string> texts(size_t(options.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::string own = rank == 0 ? text : "";
      io::Status status = comm::broadcastByProcessManager(manager.descriptor(rank), rank, timeout, own);
      texts[size_t(rank)] = status.ok() ? own : "error: " + status.message();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(manager.leaves(), std::count_if(texts.begin(), texts.end(), [](const std::string &said) {
              return said.rfind("error: ", 0) != 0;
            }));
  return texts;
}

std::string bytes(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += char(i * i + 7 * i);
  return text;
}

TEST(ProcessManager, AllHaveWhatRank0Says) {
  for (size_t valueBytes : {16, 64, 1024, 1 << 20})
    for (size_t count : {0, 1, 7, 32, 250, 3000})
      for (const std::string &text : broadcast({4, valueBytes, {}, false}, bytes(count)))
        EXPECT_EQ(text, bytes(count)) << valueBytes << " " << count;
}

TEST(ProcessManager, LinesMayComeInPieces) {
  for (const std::string &text : broadcast({2, 64, {}, true}, "some text"))
    EXPECT_EQ(text, "some text");
}

/// Of one rank: what the manager says to a command, and what is said of that.
TEST(ProcessManager, WhatItSaysIsChecked) {
  struct {
    const char *command, *instead, *message;
  } cases[] = {
      {"init", "cmd=response_to_init rc=-1",
       "to init it says \"cmd=response_to_init rc=-1\", expected "
       "cmd=response_to_init and rc=0"},
      {"init", "", "nothing came in time; some process may not have started"},
      {"init", "-", "it has gone"},
      {"get_maxes", "cmd=maxes kvsname_max=256", "an answer has no vallen_max"},
      {"get_maxes", "cmd=maxes vallen_max=12", "vallen_max is 12, expected 16 or more"},
      {"get_maxes", "cmd=maxes vallen_max=many", "vallen_max is many, expected 16 or more"},
      {"get_maxes", "cmd=\x1b[31mred", "to get_maxes it says \"cmd=?[31mred\", expected cmd=maxes and rc=0"},
      {"get_my_kvsname", "cmd=my_kvsname", "an answer has no kvsname"},
      {"put", "cmd=put_result rc=1 msg=full",
       "to put it says \"cmd=put_result rc=1 msg=full\", expected "
       "cmd=put_result and rc=0"},
      {"barrier_in", "", "nothing came in time; some process may not have started"},
      {"barrier_in", "cmd=get_result rc=0",
       "to barrier_in it says \"cmd=get_result rc=0\", expected "
       "cmd=barrier_out and rc=0"},
  };
  for (const auto &[command, instead, message] : cases) {
    std::string said = broadcast({1, 1024, {{command, instead}}, false}, "text", 0.2)[0];
    EXPECT_EQ(said.substr(0, said.find("PMI_FD=")), "error: the process manager (") << said;
    EXPECT_NE(
        said.find(std::string("): ") + message + "; set MASTER_ADDR and MASTER_PORT, and it is not asked"),
        std::string::npos)
        << said;
  }
}

TEST(ProcessManager, ALineThatDoesNotEnd) {
  std::string said = broadcast({1, 1024, {{"init", std::string(70000, 'x')}}, false}, "text", 5)[0];
  EXPECT_NE(said.find("a line does not end"), std::string::npos) << said;
}

/// Another version of par, or another program.
TEST(ProcessManager, WhatRank0GaveIsChecked) {
  for (const char *value : {"cmd=get_result rc=0 value=xyz", "cmd=get_result rc=0 value=99999999999",
                            "cmd=get_result rc=0 value=1"}) { // one part: "1", half a byte
    std::vector<std::string> texts = broadcast({2, 1024, {{"get", value}}, false}, "text");
    EXPECT_EQ(texts[0], "text");
    EXPECT_EQ(texts[1],
              "error: what rank 0 gave to the process manager has come otherwise; start the same version "
              "of par everywhere");
  }
}

/// Processes that know nothing but PMI_FD, PMI_RANK and PMI_SIZE.
class PmiRun : public testing::Test {
protected:
  void SetUp() override { writePackage(folder / "tiny.par", tinyManifest(2, 2)); }
  RunResult run(int started, const std::string &flags) {
    FakeProcessManager manager({4, 1024, {}, false});
    return runShell("cd " + folder.root() + "; " + manager.shellVariables() + "for r in $(seq 0 " +
                    std::to_string(started - 1) +
                    "); do ( eval export PMI_FD=\\$fd$r; PMI_RANK=$r timeout 60 " PAR_RUN
                    " tiny.par --transport tcp --lr 0.5 " +
                    flags + "; echo $r code $? ) & done; wait");
  }
  TemporaryFolder folder;
};

TEST_F(PmiRun, SameBytesAsThreads) {
  ASSERT_EQ(
      parRun((folder / "tiny.par") + " --steps 5 --lr 0.5 --save-params " + (folder / "local")).exitCode, 0);
  RunResult result = run(4, "--steps 5 --save-params x");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  EXPECT_NE(result.output.find("transport tcp: a launcher started this process (PMI_SIZE=4)"),
            std::string::npos)
      << result.output;
  EXPECT_EQ(readText(folder / "x"), readText(folder / "local"));
}

TEST_F(PmiRun, AProcessThatDoesNotStartIsTold) {
  RunResult result = run(3, "--steps 5 --timeout 1");
  EXPECT_EQ(count(result.output, "code 1"), 3) << result.output;
  EXPECT_NE(result.output.find("): nothing came in time; some process may not have started; set MASTER_ADDR"),
            std::string::npos)
      << result.output;
  EXPECT_LT(result.seconds, 30);
}

} // namespace
