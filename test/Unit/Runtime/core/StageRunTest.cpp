// par-run on packages with a program per stage: state, inputs and outputs are those of some ranks only.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "par/io/Philox.h"

#include <gtest/gtest.h>

#include <set>

using namespace par;
using namespace par::test;
using nlohmann::json;

namespace {

class StageRun : public testing::Test {
protected:
  void SetUp() override { writeText(folder / "data", data()); }
  static std::string data() {
    std::string text;
    for (int i = 0; i < 17 * (TINY_SEQ + 1); ++i)
      text += char((i * i + 3 * i / 7) % TINY_VOCAB);
    return text;
  }
  void write(const json &manifest, const std::string &name = "p") {
    std::filesystem::remove_all(folder / name);
    writePackage(folder / name, manifest);
  }
  RunResult run(const std::string &flags, const std::string &environment = "",
                const std::string &name = "p") {
    return parRun((folder / name) + " --data " + (folder / "data") + " " + flags, environment);
  }
  /// Ends with an error line that has this part.
  void expectError(const std::string &flags, const std::string &part, const std::string &environment = "") {
    RunResult result = run(flags, environment);
    EXPECT_EQ(result.exitCode, 1) << result.output;
    EXPECT_EQ(count(result.output, "error: "), 1) << result.output;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output << "expected: " << part;
    output = result.output;
  }
  void expectRefused(const json &manifest, const std::string &part) {
    write(manifest);
    expectError("--steps 1", part);
  }

  TemporaryFolder folder;
  std::string output;
};

std::string fileOf(int stage) { return "stage" + std::to_string(stage) + ".weight"; }

/// What a stage's table becomes.
TinyReference referenceOf(const std::string &data, int stage, uint64_t seed) {
  std::vector<double> values;
  for (int j = 0; j < 3 * TINY_VOCAB; ++j)
    values.push_back(
        float(0.02 * io::initialNormal(io::initialisationKey(fileOf(stage), seed), uint64_t(j))));
  return tinyReference(data, 3, 0.5, values);
}

void expectNear(const std::vector<float> &actual, const std::vector<double> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(double(actual[i]), expected[i], 1e-6) << "element " << i;
}

/// The tied table: every stage lists it under one name.
void tie(json &manifest) {
  for (json &program : manifest["programs"])
    program["variables"] = manifest["programs"][0]["variables"];
}

} // namespace

/// Parameters and gradients of all stages are saved; loss and norm are the last stage's, which rank 0 is not
/// of.
TEST_F(StageRun, TrainsAsTheReferences) {
  struct Mesh {
    int dp, tp, stages;
  };
  for (auto [dp, tp, stages] : {Mesh{1, 1, 2}, Mesh{2, 1, 3}, Mesh{2, 2, 2}, Mesh{1, 3, 2}}) {
    write(tinyStages(dp, tp, stages));
    RunResult result = run("--steps 3 --seed 7 --lr 0.5 --metrics " + (folder / "m") + " --save-params " +
                           (folder / "params") + " --save-grads " + (folder / "grads"));
    ASSERT_EQ(result.exitCode, 0) << result.output;
    auto params = tensorsOf(folder / "params"), grads = tensorsOf(folder / "grads");
    EXPECT_EQ(params.size(), size_t(stages));
    for (int stage = 0; stage < stages; ++stage) {
      TinyReference reference = referenceOf(data(), stage, 7);
      expectNear(params[fileOf(stage)], reference.parameters);
      expectNear(grads[fileOf(stage)], reference.gradient);
    }
    TinyReference last = referenceOf(data(), stages - 1, 7);
    std::vector<json> lines = metricsOf(folder / "m");
    ASSERT_EQ(lines.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(lines[i]["loss"].get<double>(), last.loss[i], 1e-6);
      EXPECT_NEAR(lines[i]["grad_norm"].get<double>(), last.norm[i], 1e-6);
      EXPECT_EQ(lines[i].contains("peaks"), i == 2) << lines[i]; // once per run
    }
    EXPECT_EQ(lines[2]["peaks"], json(std::vector<int>(size_t(dp * tp * stages), TINY_PEAK)));
  }
}

/// Each stage has an arena of its own size, in which it writes to another byte.
TEST_F(StageRun, PeaksAreThoseOfEveryRank) {
  json manifest = tinyStages(2, 1, 2);
  manifest["programs"][0]["schedules"][0]["function"] = "par_schedule_idle";
  write(manifest);
  RunResult result = run("--steps 2 --metrics " + (folder / "m"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  json line = metricsOf(folder / "m").back();
  ASSERT_EQ(line["peaks"].size(), 4u);
  int idle = line["peaks"][0];
  EXPECT_LT(idle, TINY_PEAK);
  EXPECT_EQ(line["peaks"], (json{idle, TINY_PEAK, idle, TINY_PEAK}));
  EXPECT_EQ(line["peak_bytes"], TINY_PEAK);
}

/// Numbers of either sign, and those that are none.
TEST_F(StageRun, AnyLossReachesRank0) {
  std::map<double, json> lines;
  for (double factor : {1.0, -1.0, 1e38}) {
    json manifest = tinyStages(1, 1, 2);
    manifest["programs"][1]["constants"][2]["value"] = factor;
    manifest["programs"][1]["variables"][0]["init"]["kind"] = "ones";
    write(manifest);
    RunResult result = run("--steps 2 --allow-nonfinite --metrics " + (folder / "m"));
    ASSERT_EQ(result.exitCode, 0) << result.output;
    lines[factor] = metricsOf(folder / "m");
  }
  EXPECT_GT(lines[1][0]["loss"].get<double>(), 0);
  EXPECT_EQ(lines[-1][0]["loss"].get<double>(), -lines[1][0]["loss"].get<double>());
  EXPECT_EQ(lines[1e38][0]["grad_norm"], "inf");
}

/// The gradient of the only token overflows; an infinite one, times a learning rate of 0, is no number.
TEST_F(StageRun, NaNReachesRank0) {
  json manifest = tinyStages(1, 1, 2);
  manifest["programs"][1]["constants"][2]["value"] = 3e38;
  write(manifest);
  writeText(folder / "data", std::string(17 * (TINY_SEQ + 1), '\0'));
  RunResult result = run("--steps 2 --lr 0 --allow-nonfinite --metrics " + (folder / "m"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  EXPECT_EQ(metricsOf(folder / "m")[1]["loss"], "nan");
  expectError("--steps 2 --lr 0", "loss or gradient norm of step 1 is not finite");
}

/// What a program does not list is not written: this stage's learning rate is a constant of its own.
TEST_F(StageRun, InputsAreThoseOfTheProgram) {
  json manifest = tinyStages(2, 1, 2);
  json &inputs = manifest["programs"][1]["inputs"];
  inputs.erase(
      std::find_if(inputs.begin(), inputs.end(), [](const json &one) { return one["name"] == "lr"; }));
  manifest["programs"][1]["constants"].push_back({{"dtype", "f32"}, {"offset", TINY_LR}, {"value", 0.0}});
  write(manifest);
  RunResult result = run("--steps 3 --seed 7 --lr 0.5 --save-params " + (folder / "params"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  ASSERT_EQ(parRun((folder / "p") + " --steps 0 --seed 7 --save-params " + (folder / "initial")).exitCode, 0);
  auto params = tensorsOf(folder / "params"), initial = tensorsOf(folder / "initial");
  EXPECT_EQ(params[fileOf(1)], initial[fileOf(1)]);
  expectNear(params[fileOf(0)], referenceOf(data(), 0, 7).parameters);
}

/// The first stage owns a tied table, files have it once, and all stages begin with the same values.
TEST_F(StageRun, TiedTables) {
  json manifest = tinyStages(2, 1, 3);
  tie(manifest);
  write(manifest);
  std::string flags = "--lr 0.5 --seed 7 --checkpoint " + (folder / "ck");
  ASSERT_EQ(run(flags + " --steps 2").exitCode, 0);
  RunResult result = run(flags + " --steps 3 --resume latest --save-params " + (folder / "params"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  auto params = tensorsOf(folder / "params");
  EXPECT_EQ(params.size(), 1u);
  expectNear(params[fileOf(0)], referenceOf(data(), 0, 7).parameters);
  result = run("--steps 1 --lr 0 --weights " + (folder / "params") + " --checkpoint " + (folder / "other"));
  EXPECT_EQ(result.exitCode, 0) << result.output; // the copies are equal
}

TEST_F(StageRun, CopiesThatDifferAreNotSaved) {
  json manifest = tinyStages(2, 1, 3);
  tie(manifest);
  manifest["programs"][2]["constants"][2]["value"] = 0.5; // another gradient
  write(manifest);
  expectError("--steps 2 --lr 0.5 --checkpoint " + (folder / "ck"),
              "variable \"w0\" of rank 2 is no longer equal to that of rank 0, which owns it");
  EXPECT_FALSE(std::filesystem::exists(folder / "ck/step-00000002"));
  EXPECT_EQ(run("--steps 2 --lr 0.5").exitCode, 0); // nobody asks for a checkpoint
}

/// From stages to one program, to other stages and back.
TEST_F(StageRun, CheckpointsOfStagesAndOfOneProgram) {
  write(tinyStages(2, 1, 3), "stages");
  write(tinyStages(1, 2, 3), "others");
  write(tinyWhole(2, 2, 3), "whole");
  for (std::string from : {"stages", "whole"}) {
    std::string flags = " --lr 0.5 --seed 7 --steps 2 ", saved = folder / (from + "-ck");
    RunResult result =
        run(flags + "--checkpoint " + saved + " --save-params " + (folder / (from + "-params")), "", from);
    ASSERT_EQ(result.exitCode, 0) << result.output;
    for (std::string to : {"stages", "others", "whole"}) {
      result = run(flags + "--resume " + saved + " --save-params " + (folder / "params"), "", to);
      ASSERT_EQ(result.exitCode, 0) << result.output;
      EXPECT_EQ(readText(folder / "params"), readText(folder / (from + "-params"))) << from << " to " << to;
    }
  }
  EXPECT_NE(readText(folder / "stages-params"), readText(folder / "whole-params")); // it trains one table
}

/// As one program that has the last stage's table.
TEST_F(StageRun, EvaluationOfTheLastStage) {
  json one = tinyManifest(2, 1);
  one["programs"][0]["variables"][0]["file"]["name"] = fileOf(1);
  json stages = tinyStages(2, 1, 2);
  std::vector<json> lines;
  for (json manifest : {one, stages}) {
    addEvaluation(manifest);
    write(manifest);
    RunResult result = run("--steps 2 --lr 0.5 --seed 7 --eval-every 1 --eval-data " + (folder / "data") +
                           " --metrics " + (folder / "m"));
    ASSERT_EQ(result.exitCode, 0) << result.output;
    json evaluations = json::array();
    for (const json &line : metricsOf(folder / "m"))
      if (line.contains("eval_loss"))
        evaluations.push_back(line);
    lines.push_back(evaluations);
  }
  ASSERT_EQ(lines[0].size(), 2u);
  EXPECT_EQ(lines[0], lines[1]);
}

/// A stage that waits may have done less than the one that it waits for.
TEST_F(StageRun, AStallIsThatOfTheStageThatDoesNotWait) {
  json manifest = tinyStages(1, 1, 2);
  manifest["programs"][0]["schedules"][0]["function"] = "par_schedule_idle";
  write(manifest);
  expectError("--steps 2 --timeout 1.5",
              "rank 1 is behind: nothing was heard for 1.5 s (--timeout) in step 1, action 1",
              "PAR_TEST_FAULT=stall:rank=1,step=1,action=1");
  EXPECT_NE(output.find("rank 0: step 1, between actions, has done the step and waits for the others"),
            std::string::npos)
      << output;
}

TEST_F(StageRun, FaultsAndProfiles) {
  json manifest = tinyStages(1, 2, 2);
  manifest["programs"][0]["actions"].erase(3); // which the other program has
  manifest["programs"][0]["schedules"][0]["function"] = "par_schedule_idle";
  write(manifest);
  expectError("--steps 2", "rank 3 failed in step 2, action 3 \"update\"",
              "PAR_TEST_FAULT=fail:rank=3,step=2,action=3");
  expectError("--steps 2", "has no action 3, expected 0 to 2", "PAR_TEST_FAULT=fail:rank=2,step=2,action=3");
  RunResult result = run("--steps 2 --profile");
  EXPECT_EQ(result.exitCode, 0) << result.output;
  EXPECT_NE(result.output.find("profile of rank 0"), std::string::npos) << result.output;
}

/// Ranks that are processes of their own, each with the groups of its stage only.
TEST_F(StageRun, SameBytesOverTcp) {
  write(tinyStages(2, 1, 2));
  std::string flags = " --steps 3 --lr 0.5 --data random --save-params ";
  ASSERT_EQ(parRun((folder / "p") + flags + (folder / "threads")).exitCode, 0);
  RunResult result =
      runShell("for r in 0 1 2 3; do ( RANK=$r WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
               std::to_string(freePort()) + " timeout 60 " PAR_RUN " " + (folder / "p") + flags +
               (folder / "processes") + "; echo code $? ) & done; wait");
  EXPECT_EQ(count(result.output, "code 0"), 4) << result.output;
  EXPECT_EQ(readText(folder / "threads"), readText(folder / "processes"));
}

TEST_F(StageRun, ManifestsThatContradictThemselves) {
  json manifest = tinyStages(1, 2, 2);
  manifest["programs"][1]["outputs"].erase(0);
  expectRefused(manifest, "no program has an output \"loss\"");
  manifest = tinyStages(1, 2, 2);
  addEvaluation(manifest);
  manifest["programs"][1]["outputs"].erase(2);
  expectRefused(manifest, "no program has an output \"eval_loss\"");
  manifest = tinyStages(1, 2, 2);
  tie(manifest);
  for (auto [key, value] : std::vector<std::pair<std::string, json>>{
           {"role", "master"},
           {"dtype", "bf16"},
           {"shape", {3, TINY_VOCAB}},
           {"local_shape", {TINY_VOCAB, 3}},
           {"sharding", json::array({json::array(), json::array({"tp"})})}}) {
    json other = manifest;
    other["programs"][1]["variables"][1][key] = value;
    expectRefused(other,
                  "variable \"w0.gradient\" of program 1 has another role, type, shape or sharding than "
                  "that of program 0, which owns it");
  }
  manifest = tinyStages(1, 1, 2);
  manifest["programs"][1]["variables"][1]["sharding"] = json::array({json::array({"pp"}), json::array()});
  expectRefused(
      manifest,
      "variable \"w1.gradient\" of program 1 has a shard on rank 0, whose program does not list it");
}
