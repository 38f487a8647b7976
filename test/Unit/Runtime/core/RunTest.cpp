// par-run on a package whose program is written by hand: 1 to 5 ranks, data, metrics, saving, launcher.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "par/io/Philox.h"
#include "par/io/Sha256.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace par;
using namespace par::test;
using nlohmann::json;

/// Three steps' worth of windows and a tail; the third step begins at window 0 again with a file this short.
static std::string tinyData() {
  std::string data;
  for (int i = 0; i < 17 * (TINY_SEQ + 1) + 3; ++i)
    data += char((i * i + 3 * i / 7) % TINY_VOCAB);
  return data;
}

static std::vector<double> initialValues(uint64_t seed) {
  std::vector<double> values;
  for (int j = 0; j < 3 * TINY_VOCAB; ++j)
    values.push_back(
        float(0.02 * io::initialNormal(io::initialisationKey("transformer.wte.weight", seed), uint64_t(j))));
  return values;
}

static void expectNear(const std::vector<float> &actual, const std::vector<double> &expected,
                       double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(double(actual[i]), expected[i], tolerance) << "element " << i;
}

class Meshes : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Meshes, TrainAsTheReference) {
  auto [dp, tp] = GetParam();
  TemporaryFolder folder;
  writePackage(folder / "tiny.par", tinyManifest(dp, tp));
  writeText(folder / "data.txt", tinyData());
  RunResult run = parRun((folder / "tiny.par") + " --steps 3 --seed 7 --lr 0.5 --data " +
                         (folder / "data.txt") + " --metrics " + (folder / "m.jsonl") + " --save-params " +
                         (folder / "p.safetensors") + " --save-grads " + (folder / "g.safetensors"));
  ASSERT_EQ(run.exitCode, 0) << run.output;
  EXPECT_NE(run.output.find("transport local"), std::string::npos) << run.output;

  TinyReference reference = tinyReference(tinyData(), 3, 0.5, initialValues(7));
  expectNear(tensorsOf(folder / "p.safetensors")["transformer.wte.weight"], reference.parameters, 1e-6);
  expectNear(tensorsOf(folder / "g.safetensors")["transformer.wte.weight"], reference.gradient, 1e-6);
  std::vector<json> lines = metricsOf(folder / "m.jsonl");
  ASSERT_EQ(lines.size(), 3u);
  uint64_t gradientBytes = uint64_t((TINY_VOCAB + tp - 1) / tp * 3 * 4);
  for (size_t i = 0; i < 3; ++i) {
    const json &line = lines[i];
    EXPECT_EQ(line["step"], i + 1);
    EXPECT_NEAR(line["loss"].get<double>(), reference.loss[i], 1e-6);
    EXPECT_NEAR(line["grad_norm"].get<double>(), reference.norm[i], 1e-6);
    EXPECT_EQ(line["lr"], 0.5);
    EXPECT_TRUE(line["mfu"].is_null());
    EXPECT_EQ(line["peak_bytes"], TINY_PEAK);
    EXPECT_EQ(line.contains("pids"), i == 0) << line; // once per run
    EXPECT_EQ(line.contains("data_hash"), i == 0) << line;
    if (i == 0) {
      EXPECT_EQ(line["pids"].size(), size_t(dp * tp));
      EXPECT_EQ(line["data_hash"].get<std::string>().size(), 64u);
    }
    EXPECT_GT(line["tokens_per_second"].get<double>(), 0);
    json sent = json::object();
    if (dp > 1)
      sent["all_reduce:dp"] = 2 * gradientBytes * uint64_t(dp - 1) / uint64_t(dp);
    // Keys name no axis of size 1, so on some meshes two collectives share a key.
    auto add = [&](const std::string &axes, uint64_t bytes) {
      sent["all_reduce:" + axes] = sent.value("all_reduce:" + axes, uint64_t(0)) + bytes;
    };
    if (tp > 1)
      add("tp", uint64_t(2 * 4 * (tp - 1) / tp));
    if (dp * tp > 1)
      add(dp == 1 ? "tp" : tp == 1 ? "dp" : "dp+tp", uint64_t(2 * 4 * (dp * tp - 1) / (dp * tp)));
    EXPECT_EQ(line["sent_bytes"], sent);
  }
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"data.txt", "g.safetensors", "m.jsonl", "p.safetensors", "tiny.par"}));
}

INSTANTIATE_TEST_SUITE_P(Runtime, Meshes,
                         testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(1, 2), std::pair(2, 2),
                                         std::pair(4, 1), std::pair(1, 4), std::pair(1, 3), std::pair(2, 4)),
                         [](const auto &info) {
                           return "dp" + std::to_string(info.param.first) + "tp" +
                                  std::to_string(info.param.second);
                         });

TEST(Run, DataHashIsOfTheStepsTokens) {
  TemporaryFolder folder;
  writePackage(folder / "tiny.par", tinyManifest(1, 1));
  writeText(folder / "data.txt", tinyData());
  // The first step of a run, which is step 3 here.
  std::string command = (folder / "tiny.par") + " --data " + (folder / "data.txt") + " --checkpoint " +
                        (folder / "ck") + " --metrics " + (folder / "m");
  ASSERT_EQ(parRun(command + " --steps 2").exitCode, 0);
  RunResult run = parRun(command + " --steps 3 --resume latest");
  ASSERT_EQ(run.exitCode, 0) << run.output;
  std::vector<int32_t> tokens;
  for (int row = 0; row < TINY_BATCH; ++row)
    for (int i = 0; i <= TINY_SEQ; ++i) // step 3 has windows 16 … 23 of a file with 17
      tokens.push_back(tinyData()[size_t((16 + row) % 17 * (TINY_SEQ + 1) + i)]);
  EXPECT_EQ(metricsOf(folder / "m")[2]["data_hash"],
            io::sha256({reinterpret_cast<const char *>(tokens.data()), tokens.size() * 4}));
}

TEST(Run, SameCommandSameBytes) {
  TemporaryFolder folder;
  writePackage(folder / "tiny.par", tinyManifest(2, 2));
  for (const char *name : {"a", "b"})
    ASSERT_EQ(
        parRun((folder / "tiny.par") + " --steps 20 --data random --save-params " + (folder / name)).exitCode,
        0);
  EXPECT_EQ(readText(folder / "a"), readText(folder / "b"));
}

TEST(Run, StartedCollectivesGiveTheSameBytes) {
  TemporaryFolder folder;
  std::map<bool, json> sent;
  for (bool started : {false, true}) {
    std::string name = started ? "started" : "blocking";
    writePackage(folder / "tiny.par", tinyManifest(2, 2, started));
    RunResult run =
        parRun((folder / "tiny.par") + " --steps 20 --data random --save-params " + (folder / name) +
                   " --metrics " + (folder / (name + ".jsonl")) + " --emulate-link 1,50",
               "PAR_TEST_DELAY=300,7");
    ASSERT_EQ(run.exitCode, 0) << run.output;
    sent[started] = metricsOf(folder / (name + ".jsonl")).back()["sent_bytes"];
  }
  EXPECT_EQ(readText(folder / "started"), readText(folder / "blocking"));
  EXPECT_EQ(sent[true], sent[false]);
}

/// Programs by coordinates, and groups that are listed, with a channel: the same bytes.
TEST(Run, ProgramsByRanksAndGroupsByList) {
  TemporaryFolder folder;
  for (std::string name : {"one", "several"}) {
    json manifest = tinyManifest(2, 2);
    if (name == "several") {
      json &collective = manifest["programs"][0]["collectives"][TINY_REDUCE_GRADIENT];
      ASSERT_EQ(collective["axes"], json::array({"dp"}));
      collective.erase("axes");
      collective["groups"] = {{1, 3}, {0, 2}};
      collective["channel"] = 7;
      manifest["programs"].push_back(manifest["programs"][0]);
      manifest["programs"][0]["ranks"] = {{"tp", {0}}};
      manifest["programs"][1]["ranks"] = {{"dp", {0, 1}}, {"tp", {1}}};
      manifest["programs"][1]["file"] = "program1.so";
    }
    writePackage(folder / (name + ".par"), manifest);
    RunResult run = parRun((folder / (name + ".par")) + " --steps 5 --data random --save-params " +
                           (folder / name) + " --metrics " + (folder / (name + ".jsonl")));
    ASSERT_EQ(run.exitCode, 0) << run.output;
  }
  EXPECT_EQ(readText(folder / "one"), readText(folder / "several"));
  json one = metricsOf(folder / "one.jsonl")[0]["sent_bytes"],
       several = metricsOf(folder / "several.jsonl")[0]["sent_bytes"];
  EXPECT_EQ(one["all_reduce:dp"].get<int>(),
            several["all_reduce:dp channel 7"].get<int>() + several.value("all_reduce:dp", 0));
}

/// A rank runs its own program: the other one's gives another loss.
/// Two constants that lie side by side, and a sequence of two numbers that is the same.
TEST(Run, WritesSequences) {
  TemporaryFolder folder;
  json manifest = tinyManifest(1, 2), &constants = manifest["programs"][0]["constants"];
  writePackage(folder / "apart.par", manifest);
  int rows = constants[0]["value"], vocab = constants[1]["value"];
  constants[0]["count"] = 2;
  constants[0]["step"] = vocab - rows;
  constants.erase(1);
  writePackage(folder / "sequence.par", manifest);
  writeText(folder / "data.txt", tinyData());
  for (const std::string name : {"apart", "sequence"}) {
    RunResult run = parRun((folder / (name + ".par")) + " --steps 2 --data " + (folder / "data.txt") +
                           " --save-params " + (folder / (name + ".safetensors")));
    ASSERT_EQ(run.exitCode, 0) << run.output;
  }
  EXPECT_EQ(readText(folder / "apart.safetensors"), readText(folder / "sequence.safetensors"));
}

TEST(Run, EveryRankRunsItsProgram) {
  TemporaryFolder folder;
  json manifest = tinyManifest(2, 1);
  manifest["programs"].push_back(manifest["programs"][0]);
  manifest["programs"][0]["ranks"] = {{"dp", {0}}};
  manifest["programs"][1]["ranks"] = {{"dp", {1}}};
  manifest["programs"][1]["file"] = "program1.so";
  manifest["programs"][1]["constants"][2]["value"] = 0; // scales what the other rank adds to the loss
  writePackage(folder / "tiny.par", manifest);
  manifest["programs"][1]["constants"][2]["value"] = 1;
  writePackage(folder / "whole.par", manifest);
  std::vector<double> loss;
  for (const char *name : {"tiny", "whole"}) {
    RunResult run =
        parRun((folder / (name + std::string(".par"))) + " --steps 1 --seed 3 --data random --metrics " +
               (folder / (name + std::string(".jsonl"))));
    ASSERT_EQ(run.exitCode, 0) << run.output;
    loss.push_back(metricsOf(folder / (name + std::string(".jsonl")))[0]["loss"]);
  }
  EXPECT_NE(loss[0], loss[1]);
}

/// Whatever takes an address of the device for a pointer crashes there.
TEST(Run, OnADeviceWhoseAddressesAreNotMapped) {
  TemporaryFolder folder;
  json manifest = tinyManifest(2, 2, /*started=*/true);
  addEvaluation(manifest);
  writePackage(folder / "tiny.par", manifest);
  writeText(folder / "data.txt", tinyData());
  auto command = [&](const std::string &name, const std::string &rest) {
    return (folder / "tiny.par") + " --data random --eval-data " + (folder / "data.txt") + " --metrics " +
           (folder / (name + ".jsonl")) + " --checkpoint " + (folder / (name + "-ck")) + rest;
  };
  for (std::string name : {"cpu", "unmapped"}) {
    std::string environment = name == "cpu" ? "" : "PAR_TEST_DEVICE=unmapped";
    RunResult run = parRun(command(name, " --steps 4"), environment);
    ASSERT_EQ(run.exitCode, 0) << run.output;
    run = parRun(command(name, " --steps 6 --resume latest --save-params " + (folder / name) +
                                   " --save-grads " + (folder / (name + "-grads"))),
                 environment);
    ASSERT_EQ(run.exitCode, 0) << run.output;
  }
  EXPECT_EQ(readText(folder / "cpu"), readText(folder / "unmapped"));
  EXPECT_EQ(readText(folder / "cpu-grads"), readText(folder / "unmapped-grads"));
  json cpu = metricsOf(folder / "cpu.jsonl").back(), unmapped = metricsOf(folder / "unmapped.jsonl").back();
  EXPECT_EQ(cpu["eval_loss"], unmapped["eval_loss"]);
  EXPECT_EQ(metricsOf(folder / "unmapped.jsonl")[0]["peak_bytes"], TINY_PEAK);
}

TEST(Run, WeightsThatWereSavedAreLoaded) {
  TemporaryFolder folder;
  writePackage(folder / "tiny.par", tinyManifest(2, 1));
  writePackage(folder / "other.par", tinyManifest(1, 4));
  ASSERT_EQ(parRun((folder / "tiny.par") + " --steps 3 --lr 1 --save-params " + (folder / "a")).exitCode, 0);
  RunResult run = parRun((folder / "other.par") + " --steps 0 --seed 9 --weights " + (folder / "a") +
                         " --save-params " + (folder / "b"));
  ASSERT_EQ(run.exitCode, 0) << run.output;
  EXPECT_EQ(readText(folder / "a"), readText(folder / "b"));
}

TEST(Run, LauncherRunsItsOwnPackage) {
  TemporaryFolder folder;
  writePackage(folder / "tiny.par", tinyManifest(2, 1));
  RunResult run = runShell("cd " + (folder / "tiny.par") + " && ./rank --steps 2");
  EXPECT_EQ(run.exitCode, 0) << run.output;
}

TEST(Run, FewLinesInAPipe) {
  TemporaryFolder folder;
  writePackage(folder / "tiny.par", tinyManifest(1, 1));
  RunResult run = parRun((folder / "tiny.par") + " --steps 1000");
  EXPECT_EQ(run.exitCode, 0);
  EXPECT_LE(std::count(run.output.begin(), run.output.end(), '\n'), 15) << run.output;
  EXPECT_NE(run.output.find("step 1000/1000"), std::string::npos) << run.output;
}
