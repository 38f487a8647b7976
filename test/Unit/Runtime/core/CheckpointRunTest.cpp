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
    output = run.output;
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

/// A rate that is not the one that the run had is seldom meant.
TEST_F(CheckpointRun, ALearningRateThatJumpsIsTold) {
  std::string save = " --checkpoint " + checkpoints() + " --steps ";
  auto resumed = [&](const std::string &flags) {
    expectRun(package() + " --resume " + checkpoints() + " " + flags);
    return output;
  };
  expectRun(package() + " --lr 0.5" + save + "4");
  EXPECT_NE(resumed("--steps 5 --lr 0.05")
                .find("note: the learning rate jumps: step 4 was trained with 0.5, for which "
                      "these flags give 0.05, 0.1 times as much; step 5 has 0.05\n"),
            std::string::npos)
      << output;
  EXPECT_EQ(resumed("--steps 9 --lr 0.5").find("note: the learning rate"), std::string::npos) << output;
  EXPECT_EQ(resumed("--steps 4 --lr 0.05").find("note: the learning rate"), std::string::npos) << output;
  std::filesystem::remove_all(checkpoints());
  // A cosine that was to end with this run, and now goes on.
  expectRun(package() + " --lr 0.5 --lr-schedule cosine" + save + "4");
  EXPECT_NE(resumed("--steps 8 --lr 0.5 --lr-schedule cosine")
                .find("note: the learning rate jumps: step 4 was trained "
                      "with 0, for which these flags give 0.25; step 5"),
            std::string::npos)
      << output;
}

TEST_F(CheckpointRun, SchedulesGoOn) {
  for (std::string schedule : {"linear --warmup-steps 2 --min-lr 0.1", "wsd --cooldown-steps 6"}) {
    std::string run = package() + " --lr 0.5 --lr-schedule " + schedule + " --steps 9 --metrics ";
    expectRun(run + (folder / "m"));
    expectRun(run + (folder / "n") + " --checkpoint " + checkpoints() + " --checkpoint-every 5");
    std::filesystem::remove_all(checkpoints() + "/step-00000009");
    expectRun(run + (folder / "n") + " --resume latest --checkpoint " + checkpoints());
    std::vector<json> whole = metricsOf(folder / "m"), resumed = metricsOf(folder / "n");
    ASSERT_EQ(resumed.size(), 9u);
    for (size_t i = 0; i < 9; ++i)
      EXPECT_EQ(whole[i]["lr"], resumed[i]["lr"]) << schedule << ", step " << i + 1;
    EXPECT_LT(whole[7]["lr"], whole[5]["lr"]) << schedule;
    EXPECT_EQ(output.find("note: the learning rate jumps"), std::string::npos) << output;
    std::filesystem::remove_all(checkpoints());
  }
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
  expectError(resume + " --save-grads " + (folder / "never-either"), "has step 9 of --steps 9 already");

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
    writeHashed(step + "/checkpoint.json", copy);
  };
  changed("/format_version", 1);
  expectError(resume, "format_version is 1, this runtime reads 2; go on with the par that wrote it");
  changed("/step", "nine");
  expectError(resume, "checkpoint.json: is damaged");
  for (const json &step : {json(1e308), json(9.5), json(-1), json(INT64_MAX)}) {
    changed("/step", step);
    expectError(resume, "checkpoint.json: is damaged (step: is " + step.dump() +
                            ", expected an integer from 0 to 281474976710656)");
  }
  changed("/tensors/transformer.wte.weight/block", {0, 1});
  expectError(resume,
              "checkpoint.json: is damaged (tensors: transformer.wte.weight: block[0]: is 0, expected");
  changed("/tensors/transformer.wte.weight/ranks", {77});
  expectError(resume,
              "checkpoint.json: is damaged (tensors: transformer.wte.weight: ranks[0]: is 77, expected");
  changed("/tensors/transformer.wte.weight/block", {int64_t(1) << 48, int64_t(1) << 48});
  expectError(resume, "blocks and shape do not fit");
  changed("/tensors/transformer.wte.weight/block", {3, 10});
  expectError(resume, "blocks and shape do not fit");
  changed("/tensors/transformer.wte.weight/sha256/0", json::array());
  expectError(resume, "blocks and shape do not fit");
  writeText(step + "/checkpoint.json", description);
  expectRun(resume);
}

TEST_F(CheckpointRun, OtherNumbersAreNamed) {
  expectRun(package() + flags + "--checkpoint " + checkpoints());
  json good = tinyManifest(1, 1), other = good;
  auto expectRefused = [&](const std::string &part) {
    writePackage(folder / "b.par", other);
    expectError((folder / "b.par") + flags + "--resume " + checkpoints(), part);
    RunResult exported = runShell(std::string(PAR_EXPORT) + " " + (folder / "b.par") + " --checkpoint " +
                                  checkpoints() + " -o " + (folder / "never"));
    EXPECT_EQ(exported.exitCode, 1) << exported.output;
    other = good;
  };
  other["model"]["numbers"]["scale"] = 2.5;
  expectRefused(
      "checkpoint.json: was saved from a model whose scale is 1.5, but the package's is 2.5; compile "
      "the model that was saved");
  other["model"]["numbers"]["window"] = 4;
  expectRefused("whose window is absent, but the package's is 4");
  other["model"]["numbers"].erase("scale");
  expectRefused("whose scale is 1.5, but the package's is absent");
  other["model"]["model_type"] = "mistral";
  expectRefused("whose model_type is \"tiny\", but the package's is \"mistral\"");
  // What training may change: batch, mesh and type.
  other["dtype"] = "bf16";
  writePackage(folder / "b.par", other);
  expectRun((folder / "b.par") + flags + "--resume " + checkpoints());
}

TEST_F(CheckpointRun, OthersAreNotTrained) {
  const std::string name = "\"transformer.wte.weight\"";
  json whole = tinyManifest(2, 2), frozen = tinyManifest(2, 2);
  frozen["programs"][0]["variables"][0]["trained"] = false;
  writePackage(folder / "frozen.par", frozen);
  expectRun(package() + flags + "--checkpoint " + checkpoints());
  expectError((folder / "frozen.par") + flags + "--resume " + checkpoints(),
              "checkpoint.json: tensor " + name +
                  " was trained, but the package freezes it; compile with the --freeze of that run, or begin "
                  "another one with the --weights that par-export makes of the checkpoint");
  expectRun((folder / "frozen.par") + flags + "--checkpoint " + (folder / "d"));
  expectError(package() + flags + "--resume " + (folder / "d"),
              "tensor " + name + " was frozen, but the package trains it");
  expectRun((folder / "frozen.par") + " --lr 0.5 --steps 11 --resume " + (folder / "d")); // the same goes on
  // What older checkpoints do not say is not compared.
  std::string description = checkpoints() + "/step-00000009/checkpoint.json";
  json older = json::parse(readText(description));
  older.erase("frozen");
  writeHashed(description, older);
  expectRun((folder / "frozen.par") + " --lr 0.5 --steps 11 --resume " + checkpoints());
}

TEST_F(CheckpointRun, ChangedContentIsRefused) {
  std::string step = checkpoints() + "/step-00000004", later = checkpoints() + "/step-00000008",
              resume = package() + flags + "--resume " + step;
  expectRun(package() + " --lr 0.5 --steps 8 --checkpoint-every 4 --checkpoint " + checkpoints());
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(step))
    if (entry.path().extension() == ".safetensors")
      names.push_back(entry.path().filename());
  for (const std::string &name : names) {
    std::string good = readText(step + "/" + name), bad = good;
    auto expectRefused = [&](const std::string &content) {
      writeText(step + "/" + name, content);
      expectError(resume, step + "/" + name + ": tensor \"transformer.wte.weight\" is not what was saved");
      EXPECT_EQ(output.find("<- behind"), std::string::npos) << output;
    };
    std::fill(bad.end() - 12, bad.end(), '\0');
    expectRefused(bad);
    bad = good, bad[bad.size() - 1] ^= 64;
    expectRefused(bad);
    expectRefused(readText(later + "/" + name)); // the same rank's file of another step
    writeText(step + "/" + name, good);
  }
  std::string description = readText(step + "/checkpoint.json");
  for (const auto &[from, to] :
       {std::pair("\"step\":4", "\"step\":3"), std::pair("\"windows\":32", "\"windows\":40"),
        std::pair("\"seed\":0", "\"seed\":1")}) {
    std::string changed = description;
    ASSERT_NE(changed.find(from), std::string::npos) << description;
    writeText(step + "/checkpoint.json", changed.replace(changed.find(from), std::string(from).size(), to));
    expectError(resume, "checkpoint.json: was changed after it was saved");
  }
  writeText(step + "/checkpoint.json", description);
  expectRun(resume);
  std::filesystem::remove_all(later);
  std::filesystem::rename(step, later);
  expectError(package() + flags + "--resume " + checkpoints(),
              "step-00000008: holds step 4, as its checkpoint.json says; rename it to step-00000004");
}

TEST_F(CheckpointRun, AUsedFolderIsNotMixed) {
  std::string run = package() + " --lr 0.5 --checkpoint " + checkpoints();
  expectRun(run + " --steps 8 --checkpoint-every 4");
  auto content = [&] {
    std::string all;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(checkpoints()))
      all += entry.path().string() + (entry.is_regular_file() ? readText(entry.path().string()) : "");
    return all;
  };
  std::string before = content();
  expectError(
      run + " --steps 4 --seed 7",
      "c: holds checkpoints of another run, the latest of step 8; go on with it by --resume latest, or "
      "give another --checkpoint");
  expectRun(package() + " --lr 0.5 --steps 4 --checkpoint " + (folder / "d"));
  expectError(run + " --steps 12 --resume " + (folder / "d"), "holds checkpoints of another run");
  expectError(run + " --steps 12 --resume " + checkpoints() + "/step-00000004",
              "step-00000008: is later than step 4, which is resumed");
  EXPECT_EQ(content(), before);
  expectRun(run + " --steps 12 --resume " + checkpoints() + "/step-00000008/");
  expectRun(run + " --steps 16 --resume " + checkpoints() + "/");
}

TEST_F(CheckpointRun, WeightsOnlyTheFirstTime) {
  expectRun(package() + " --steps 3 --lr 0.5 --save-params " + (folder / "w"));
  std::string weights = " --weights " + (folder / "w"), steps = package() + " --lr 0.5 --steps ";
  expectRun(steps + "6" + weights + " --save-params " + (folder / "whole"));
  std::string job =
      weights + " --resume latest --checkpoint " + checkpoints() + " --save-params " + (folder / "x");
  expectRun(steps + "4" + job);
  EXPECT_NE(output.find("weights " + (folder / "w")), std::string::npos) << output;
  std::filesystem::remove(folder / "w"); // not needed any more
  expectRun(steps + "6" + job);
  EXPECT_NE(output.find("resumed from " + checkpoints() + "/step-00000004"), std::string::npos) << output;
  EXPECT_EQ(readText(folder / "x"), readText(folder / "whole"));
  expectError(steps + "6" + weights + " --resume " + checkpoints() + "/step-00000004", "give one");
}

TEST_F(CheckpointRun, OutputsThatCollide) {
  expectRun(package() + " --steps 1 --save-params " + (folder / "w"));
  writeText(folder / "data", std::string(1000, 1));
  std::filesystem::create_symlink(folder / "data", folder / "link");
  std::filesystem::create_hard_link(folder / "data", folder / "hard");
  std::filesystem::create_symlink(folder.root(), folder / "here");
  std::string run = "cd " + folder.root() + " && " PAR_RUN " a.par --steps 1 --data data ";
  auto expectRefused = [&](const std::string &arguments, const std::string &part) {
    std::vector<std::string> before = folder.files();
    RunResult result = runShell(run + arguments);
    EXPECT_EQ(result.exitCode, 1) << result.output;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output << "expected: " << part;
    EXPECT_EQ(result.output.find("step 1/1"), std::string::npos) << result.output;
    EXPECT_EQ(folder.files(), before);
  };
  expectRefused("--save-params a --save-grads a", "--save-grads a: is also what --save-params writes");
  expectRefused("--save-params a --metrics ./here/a", "--save-params a: is also what --metrics writes");
  expectRefused("--metrics c --checkpoint c/", "--checkpoint c/: is also what --metrics writes");
  for (const char *name : {"data", "link", "hard", "here/data"})
    expectRefused(std::string("--save-params ") + name, "is also --data, which is read");
  expectRefused("--weights w --save-params w", "--save-params w: is also --weights");
  expectRefused("--metrics a.par/rank", "--metrics a.par/rank: is also a file of the package");
  expectRefused("--checkpoint a.par", "--checkpoint a.par: is also the package");
  EXPECT_EQ(runShell(run + "--checkpoint c").exitCode, 0);
  expectRefused("--metrics c/step-00000001/m", "is in a checkpoint");
}

TEST_F(CheckpointRun, LinksThatWaitForTheirNamesAreNotFollowed) {
  writeText(folder / "victim", "precious");
  RunResult run = runShell("cd " + folder.root() +
                           " && sh -c 'for name in p.tmp p.tmp$$ m.tmp$$; do ln -s victim $name; "
                           "done; exec " PAR_RUN " a.par --steps 1 --save-params p --metrics m'");
  EXPECT_EQ(run.exitCode, 0) << run.output;
  EXPECT_EQ(readText(folder / "victim"), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "p"));
}

TEST_F(CheckpointRun, WhereFilesNeedATemporaryName) {
#ifdef PAR_SANITIZE
  GTEST_SKIP() << "sanitizers need /proc";
#endif
  if (runShell("unshare -rm true").exitCode != 0)
    GTEST_SKIP() << "no name space of mounts of our own here";
  // Without /proc a file cannot get its name later, and nothing is known of this machine.
  RunResult run = runShell("cd " + folder.root() +
                           " && unshare -rm sh -c 'mount -t tmpfs none /proc && " PAR_RUN
                           " a.par --steps 4 --lr 0.5 --checkpoint c --save-params p && " PAR_RUN
                           " a.par --steps 8 --lr 0.5 --checkpoint c --resume latest --save-params q'");
  EXPECT_EQ(run.exitCode, 0) << run.output;
  expectRun(package() + " --steps 8 --lr 0.5 --save-params " + (folder / "r"));
  EXPECT_EQ(readText(folder / "q"), readText(folder / "r"));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"a.par", "c", "p", "q", "r"}));
}

TEST_F(CheckpointRun, ADiskThatIsFullLeavesWhatWasSaved) {
  if (runShell("mkdir " + (folder / "small") + " && unshare -rm true").exitCode != 0)
    GTEST_SKIP() << "no name space of mounts of our own here";
  json manifest = tinyManifest(2, 1);
  RunResult run = runShell(
      "cd " + folder.root() +
      " && unshare -rm sh -c 'mount -t tmpfs -o size=48k none small && " PAR_RUN
      " a.par --steps 100 --checkpoint small/c --checkpoint-every 5; echo code $?; ls -a small/c; " PAR_RUN
      " a.par --steps 0 --resume small/c'");
  EXPECT_NE(run.output.find("code 1"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find(": cannot be saved: "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("No space left on device; older checkpoints are whole"), std::string::npos)
      << run.output;
  EXPECT_EQ(run.output.find("behind"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find(".tmp\n"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("run.lock"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("resumed from small/c/step-"), std::string::npos) << run.output;
}

TEST_F(CheckpointRun, FoldersThatCannotBeWritten) {
  writeText(folder / "file", "x");
  expectError(package() + flags + "--checkpoint " + (folder / "file/c"),
              "file/c: checkpoints cannot be written");
}
