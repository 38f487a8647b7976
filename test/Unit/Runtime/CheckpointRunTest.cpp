// par-run with checkpoints: resumed runs equal those that did not stop, signals save, and what cannot be
// resumed is named.
#include "TinyPackage.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

using namespace par::test;
using nlohmann::json;

namespace {

class CheckpointRun : public testing::Test {
protected:
  void SetUp() override { writePackage(folder / "a.par", tinyManifest(2, 2)); }
  void expectRun(const std::string &arguments) {
    RunResult run = parRun(arguments);
    ASSERT_EQ(run.exitCode, 0) << run.output;
    output = run.output;
  }
  void expectError(const std::string &arguments, const std::string &part) {
    RunResult run = parRun(arguments + " --save-params " + (folder / "never"));
    EXPECT_EQ(run.exitCode, 1) << run.output;
    EXPECT_NE(run.output.find("error: "), std::string::npos) << run.output;
    EXPECT_NE(run.output.find(part), std::string::npos) << run.output << "expected: " << part;
    EXPECT_FALSE(std::filesystem::exists(folder / "never"));
  }
  std::string package() const { return folder / "a.par"; }
  std::string checkpoints() const { return folder / "c"; }

  TemporaryFolder folder;
  std::string output;
  const std::string flags = " --lr 0.5 --lr-schedule cosine --steps 9 ";
};

} // namespace

TEST_F(CheckpointRun, ResumedIsByteEqualToUnstopped) {
  expectRun(package() + flags + "--seed 4 --save-params " + (folder / "whole") + " --metrics " +
            (folder / "m"));
  // Stops after 5 steps of 9; the log has lines of a step that is run again.
  expectRun(package() + flags + "--seed 4 --checkpoint " + checkpoints() +
            " --checkpoint-every 5 --metrics " + (folder / "n"));
  std::filesystem::remove_all(checkpoints() + "/step-00000009");
  expectRun(package() + flags + "--resume latest --checkpoint " + checkpoints() + " --save-params " +
            (folder / "resumed") + " --metrics " + (folder / "n"));
  EXPECT_NE(output.find("resumed from " + checkpoints() + "/step-00000005"), std::string::npos) << output;
  EXPECT_EQ(readText(folder / "whole"), readText(folder / "resumed"));
  std::vector<json> whole = metricsOf(folder / "m"), resumed = metricsOf(folder / "n");
  ASSERT_EQ(resumed.size(), 9u);
  EXPECT_TRUE(resumed[0].contains("data_hash") && resumed[5].contains("data_hash")); // of each of the runs
  for (size_t i = 0; i < 9; ++i)
    for (const char *key : {"step", "loss", "grad_norm", "lr"})
      EXPECT_EQ(whole[i][key], resumed[i][key]) << key << " of step " << i + 1;
}

TEST_F(CheckpointRun, OtherMeshesGoOn) {
  expectRun(package() + flags + "--seed 4 --save-params " + (folder / "whole"));
  expectRun(package() + " --lr 0.5 --lr-schedule cosine --decay-steps 9 --steps 4 --seed 4 --checkpoint " +
            checkpoints());
  std::vector<float> whole = tensorsOf(folder / "whole")["transformer.wte.weight"];
  for (auto [dp, tp] : {std::pair(1, 1), std::pair(4, 1), std::pair(1, 4), std::pair(1, 3)}) {
    writePackage(folder / "b.par", tinyManifest(dp, tp));
    expectRun((folder / "b.par") + flags + "--resume " + checkpoints() + " --save-params " +
              (folder / "resumed"));
    std::vector<float> resumed = tensorsOf(folder / "resumed")["transformer.wte.weight"];
    for (size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(resumed[i], whole[i], 1e-6);
  }
}

TEST_F(CheckpointRun, LatestOfNothingBeginsAnew) {
  expectRun(package() + flags + "--resume latest --checkpoint " + checkpoints());
  EXPECT_NE(output.find("initial values from seed 0"), std::string::npos) << output;
  expectRun(package() + flags + "--resume latest --checkpoint " + checkpoints() + " --save-params " +
            (folder / "x"));
  EXPECT_TRUE(std::filesystem::exists(folder / "x")); // nothing was left to do but this
}

TEST_F(CheckpointRun, SignalsSave) {
  std::string metrics = folder / "m", first = checkpoints();
  std::string wait = "until [ -s " + metrics + " ] || ! kill -0 $!; do sleep 0.1; done; ";
  RunResult run =
      runShell("{ " PAR_RUN " " + package() + " --steps 1000000000 --checkpoint " + first +
               " --keep 1 --metrics " + metrics + " & " + wait + "kill -USR1 $!; until ls " + first +
               " | grep -q '^step-........$' || ! kill -0 $!; do sleep 0.1; done; "
               "kill -0 $! && echo goes on; sleep 0.2; kill -TERM $!; wait $!; }");
  EXPECT_EQ(run.exitCode, 1) << run.output;
  EXPECT_NE(run.output.find("goes on"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("go on with --resume " + first), std::string::npos) << run.output;
  std::vector<json> lines = metricsOf(metrics);
  char name[32];
  std::snprintf(name, sizeof(name), "step-%08d", lines.back()["step"].get<int>());
  ASSERT_TRUE(std::filesystem::exists(first + "/" + name))
      << run.output; // the step before the end, and only it
  int left = 0;
  for (const auto &entry : std::filesystem::directory_iterator(first))
    left += entry.is_directory();
  EXPECT_EQ(left, 1);
  expectRun(package() + " --steps " + std::to_string(lines.back()["step"].get<int>() + 1) + " --resume " +
            first);
}

TEST_F(CheckpointRun, WhatCannotBeResumedIsNamed) {
  std::string step = checkpoints() + "/step-00000009",
              resume = package() + flags + "--resume " + checkpoints();
  expectRun(package() + flags + "--seed 4 --checkpoint " + checkpoints());
  expectError(package() + flags + "--resume " + (folder / "none"),
              "none: has no checkpoint.json and no complete step-... folder");
  expectError(resume + " --seed 5",
              "checkpoint.json: was saved with seed 4, but --seed is 5; leave --seed out");
  expectError(resume + " --save-grads " + (folder / "never-either"), "has step 9 of 9 already");

  json other = tinyManifest(2, 2);
  other["optimizer"] = "adamw";
  writePackage(folder / "b.par", other);
  expectError((folder / "b.par") + flags + "--resume " + step,
              "was saved with optimizer sgd, the package has adamw; compile with --optimizer sgd");
  other = tinyManifest(1, 1);
  for (json &variable : other["programs"][0]["variables"])
    variable["shape"] = variable["local_shape"] = {TINY_VOCAB - 1, 3};
  other["programs"][0]["variables"][0]["file"]["shape"] = {3, TINY_VOCAB - 1};
  writePackage(folder / "b.par", other);
  expectError((folder / "b.par") + flags + "--resume " + step,
              "has shape [3, 10], but the package was compiled for [3, 9]");
  other = tinyManifest(1, 1);
  other["programs"][0]["variables"][0]["file"]["name"] = "other.weight";
  writePackage(folder / "b.par", other);
  expectError((folder / "b.par") + flags + "--resume " + step,
              "tensor \"other.weight\" of the package is missing");
}

TEST_F(CheckpointRun, DamageIsNamed) {
  std::string step = checkpoints() + "/step-00000009", resume = package() + flags + "--resume " + step;
  expectRun(package() + flags + "--checkpoint " + checkpoints());
  std::string file;
  for (const auto &entry : std::filesystem::directory_iterator(step))
    if (entry.path().extension() == ".safetensors")
      file = entry.path().string();
  std::string content = readText(file), description = readText(step + "/checkpoint.json");
  writeText(file, content.substr(0, content.size() - 5));
  expectError(resume, ".safetensors: has " + std::to_string(content.size() - 5) + " bytes, expected " +
                          std::to_string(content.size()) +
                          "; the checkpoint is incomplete, resume from another one");
  std::string damaged = content;
  damaged[12] = '?';
  writeText(file, damaged);
  expectError(resume, "error: " + file);
  std::filesystem::remove(file);
  expectError(resume, file + ": is missing");
  writeText(file, content);
  for (size_t length : {size_t(0), size_t(100), description.size() - 10}) {
    writeText(step + "/checkpoint.json", description.substr(0, length));
    expectError(resume, "checkpoint.json: is no checkpoint's description");
  }
  auto changed = [&](const std::string &pointer, const json &value) {
    json copy = json::parse(description);
    copy[json::json_pointer(pointer)] = value;
    writeText(step + "/checkpoint.json", copy.dump());
  };
  changed("/format_version", 9);
  expectError(resume, "format_version is 9, this runtime reads 1");
  changed("/step", "nine");
  expectError(resume, "checkpoint.json: is damaged");
  for (const json &step : {json(1e308), json(9.5), json(-1), json(INT64_MAX)}) {
    changed("/step", step);
    expectError(resume, "checkpoint.json: is damaged (" + step.dump() +
                            " where an integer from 0 to 281474976710656 is expected)");
  }
  changed("/tensors/transformer.wte.weight/block", {0, 1});
  expectError(resume, "checkpoint.json: is damaged (0 where");
  changed("/tensors/transformer.wte.weight/ranks", {77});
  expectError(resume, "checkpoint.json: is damaged (77 where");
  changed("/tensors/transformer.wte.weight/block", {int64_t(1) << 48, int64_t(1) << 48});
  expectError(resume, "blocks and shape do not fit");
  changed("/tensors/transformer.wte.weight/block", {3, 10});
  expectError(resume, "blocks and shape do not fit");
  writeText(step + "/checkpoint.json", description);
  expectRun(resume);
}

TEST_F(CheckpointRun, FoldersThatCannotBeWritten) {
  writeText(folder / "file", "x");
  expectError(package() + flags + "--checkpoint " + (folder / "file/c"),
              "file/c: checkpoints cannot be written");
}
