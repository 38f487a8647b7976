// How long par-run runs and which checkpoints it saves and keeps: --epochs, --save-minutes, --keep-best.
#include "TinyPackage.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

using namespace par::test;
using nlohmann::json;

namespace {

class SaveTimes : public testing::Test {
protected:
  void SetUp() override {
    json manifest = tinyManifest(2, 1);
    addEvaluation(manifest);
    writePackage(folder / "a.par", manifest);
    std::string data(size_t(windows) * (TINY_SEQ + 1), 1);
    data[3] = 2, data[40] = 3;
    writeText(folder / "data", data);
    writeText(folder / "unseen", std::string(10 * (TINY_SEQ + 1), 9)); // training does not change its loss
  }
  std::string run(const std::string &arguments, const std::string &package = "a.par") {
    RunResult result = parRun((folder / package) + " --lr 0.5 --data " + (folder / "data") + " " + arguments);
    EXPECT_EQ(result.exitCode, 0) << result.output;
    return result.output;
  }
  void expectRefused(const std::string &arguments, const std::string &error) {
    RunResult result = parRun((folder / "a.par") + " --data " + (folder / "data") + " " + arguments);
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_EQ(result.output, "error: " + error + "\n");
  }
  std::string checkpoints() const { return " --checkpoint " + (folder / "c") + " "; }
  std::string evaluates(const std::string &file) const {
    return " --eval-every 2 --keep-best --eval-data " + (folder / file) + checkpoints();
  }
  /// The steps whose checkpoints are there.
  std::vector<int> saved() const {
    std::vector<int> steps;
    for (const auto &entry : std::filesystem::directory_iterator(folder / "c"))
      if (!entry.is_symlink() && entry.is_directory())
        steps.push_back(std::stoi(entry.path().filename().string().substr(5)));
    std::sort(steps.begin(), steps.end());
    return steps;
  }
  int best() const {
    return std::stoi(std::filesystem::read_symlink(folder / "c/best").filename().string().substr(5));
  }

  static constexpr int windows = 3 * TINY_BATCH + 2;
  TemporaryFolder folder;
};

} // namespace

TEST_F(SaveTimes, EpochsAreSteps) {
  std::string output = run("--epochs 2 --save-params " + (folder / "p"));
  EXPECT_EQ(count(output, "epochs of 26 windows: the last step is 7\n"), 1) << output;
  EXPECT_EQ(count(output, "step 7/7  "), 1) << output;
  run("--steps 7 --save-params " + (folder / "q"));
  EXPECT_EQ(readText(folder / "p"), readText(folder / "q"));
  EXPECT_EQ(count(run("--epochs 0.5"), "step 2/2  "), 1);
}

TEST_F(SaveTimes, EpochsGoOnWhereTheyWere) {
  run("--epochs 1" + checkpoints());
  std::string output = run("--epochs 2 --resume latest --save-params " + (folder / "p") + checkpoints());
  EXPECT_EQ(count(output, "the last step is 7\n"), 1) << output;
  run("--steps 7 --save-params " + (folder / "q"));
  EXPECT_EQ(readText(folder / "p"), readText(folder / "q"));
  output = run("--epochs 1 --resume latest" + checkpoints());
  EXPECT_EQ(count(output, "nothing to do: "), 1) << output;
  EXPECT_EQ(count(output, "has step 7, with which --epochs 1 are over\n"), 1) << output;
  EXPECT_EQ(count(output, "--steps"), 0) << output;
}

TEST_F(SaveTimes, EpochsHaveAnEndAndOneMeaning) {
  expectRefused("--steps 3 --epochs 2", "--steps and --epochs both say how long; give one");
  expectRefused("--epochs 0", "--epochs is '0', expected a finite number above 0 and at most 1e+09");
  RunResult result = parRun((folder / "a.par") + " --epochs 2");
  EXPECT_EQ(result.output, "error: --epochs: random data has no end; give --data FILE, or --steps\n");
  expectRefused("--epochs 1 --lr-schedule cosine --warmup-steps 5",
                "--warmup-steps 5 goes beyond the end of --lr-schedule cosine, step 4, the last of --epochs; "
                "give fewer of the former or more of the latter");
}

TEST_F(SaveTimes, MinutesBetweenCheckpoints) {
  run("--steps 4 --save-minutes 1e-9" + checkpoints());
  EXPECT_EQ(saved(), (std::vector{1, 2, 3, 4}));
  run("--steps 6 --save-minutes 1e-9 --resume latest --keep 3" + checkpoints());
  EXPECT_EQ(saved(), (std::vector{4, 5, 6}));
  run("--steps 9 --save-minutes 1000 --resume latest" + checkpoints()); // not that long
  EXPECT_EQ(saved(), (std::vector{4, 5, 6, 9}));
  expectRefused("--steps 1 --save-minutes 5", "--save-minutes needs --checkpoint DIR");
}

TEST_F(SaveTimes, MinutesCountFromTheLastCheckpoint) {
  constexpr double interval = 0.12; // seconds
  RunResult result = parRun((folder / "a.par") + " --steps 60 --save-minutes " +
                                std::to_string(interval / 60) + checkpoints(),
                            "PAR_TEST_DELAY=10000,7"); // steps of some 20 ms
  ASSERT_EQ(result.exitCode, 0) << result.output;
  EXPECT_GE(saved().size(), 2u);
  EXPECT_LE(double(saved().size()), result.seconds / interval + 1); // and the last one
}

TEST_F(SaveTimes, TheBestCheckpointStays) {
  std::string flags = evaluates("unseen") + "--checkpoint-every 3 --keep 1 ";
  run("--steps 8" + flags);
  EXPECT_EQ(saved(), (std::vector{2, 8})); // what is as good as the best is not better
  EXPECT_EQ(best(), 2);
  run("--steps 12 --resume latest" + flags); // the loss is known from the checkpoint
  EXPECT_EQ(saved(), (std::vector{2, 12}));
  EXPECT_EQ(best(), 2);
  run("--steps 14 --resume latest --keep 1" + checkpoints()); // also where nobody looks for a better one
  EXPECT_EQ(saved(), (std::vector{2, 14}));
  std::string output = run("--steps 3 --resume " + (folder / "c/best"));
  EXPECT_EQ(count(output, "step 3/3  "), 1) << output;
}

TEST_F(SaveTimes, ABetterOneTakesItsPlace) {
  run("--steps 7 --keep 2" + evaluates("data")); // falls with every step
  EXPECT_EQ(best(), 7);
  EXPECT_EQ(saved(), (std::vector{6, 7}));
  json description = json::parse(readText(folder / "c/best/checkpoint.json"));
  EXPECT_LT(description["eval_loss"],
            json::parse(readText(folder / "c/step-00000006/checkpoint.json"))["eval_loss"]);
}

TEST_F(SaveTimes, WithoutALossNothingIsBest) {
  expectRefused("--steps 1 --keep-best --eval-data " + (folder / "data"),
                "--keep-best needs --checkpoint DIR");
  expectRefused("--steps 1 --keep-best" + checkpoints(),
                "--keep-best needs --eval-data FILE, whose loss says what is best");
  std::filesystem::create_directories(folder / "c/best");
  expectRefused("--steps 2" + evaluates("data"),
                (folder / "c/best") +
                    ": is no link, so --keep-best cannot name the best checkpoint by it; move it "
                    "away, or give another --checkpoint");
}
