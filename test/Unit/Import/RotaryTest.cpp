//===- RotaryTest.cpp - scaled rotary positions ---------------------------------------------------------===//
#include "ReadConfig.h"

#include <cmath>

using namespace mlir::par;

namespace {

constexpr const char *llama =
    R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128})";

ModelConfig readScaling(const char *scaling) { return read(llama, {std::string("rope_scaling=") + scaling}); }
std::string failScaling(const char *scaling) {
  return failure(llama, {std::string("rope_scaling=") + scaling});
}

bool contains(const std::string &text, llvm::StringRef part) {
  return text.find(part.str()) != std::string::npos;
}

TEST(Yarn, attentionFactor) {
  auto factor = [](const char *scaling) { return real(readScaling(scaling), "rope_attention_factor"); };
  EXPECT_NEAR(factor(R"({"rope_type": "yarn", "factor": 4.0})"), 0.1 * std::log(4.0) + 1, 1e-15);
  EXPECT_NEAR(factor(R"({"rope_type": "yarn", "factor": 0.5})"), 1.0, 0.0);
  EXPECT_NEAR(factor(R"({"rope_type": "yarn", "factor": 4.0, "attention_factor": 1.25})"), 1.25, 0.0);
  double two = 0.2 * std::log(4.0) + 1, half = 0.05 * std::log(4.0) + 1;
  EXPECT_NEAR(factor(R"({"rope_type": "yarn", "factor": 4.0, "mscale": 2, "mscale_all_dim": 0.5})"),
              two / half, 1e-15);
  // One of them alone says nothing.
  EXPECT_NEAR(factor(R"({"rope_type": "yarn", "factor": 4.0, "mscale": 2})"), 0.1 * std::log(4.0) + 1, 1e-15);
}

TEST(Yarn, keysAndTheirAliases) {
  ModelConfig config = readScaling(R"({"type": "yarn", "original_max_position_embeddings": 16, "beta_fast": 8,
                                       "beta_slow": 2, "truncate": false})");
  EXPECT_EQ(label(config, "rope_scaling"), "yarn");
  // The longest sequence over what it was.
  EXPECT_EQ(real(config, "rope_factor"), 8.0);
  EXPECT_EQ(real(config, "rope_original_positions"), 16.0);
  EXPECT_EQ(real(config, "rope_beta_fast"), 8.0);
  EXPECT_EQ(real(config, "rope_beta_slow"), 2.0);
  EXPECT_FALSE(flag(config, "rope_truncate"));
  EXPECT_EQ(real(readScaling(R"({"rope_type": "yarn", "factor": 2})"), "rope_original_positions"), 128.0);
}

TEST(Yarn, frequencies) {
  Rotary rotary;
  rotary.theta = 10000;
  rotary.scaling = Rotary::Scaling::Yarn;
  rotary.factor = 4;
  rotary.originalPositions = 1024;
  rotary.betaFast = 4, rotary.betaSlow = 1;
  // A pair i of 8 turns 1024·10000^(−i/8)/2π times: 4 at i = 3.221, 1 at 4.425. So pairs up to 3 stay, those
  // from 5 on are scaled, and the one in between is half of each.
  std::vector<double> frequencies = inverseFrequencies(rotary, 16);
  for (int i = 0; i < 8; ++i) {
    double plain = std::pow(10000.0, -i / 8.0), kept = i <= 3 ? 1 : i >= 5 ? 0 : 0.5;
    EXPECT_NEAR(frequencies[i], plain * (kept + (1 - kept) / 4), 1e-15) << i;
  }
  rotary.truncate = false;
  double low = 8 * std::log(1024 / (4 * 2 * M_PI)) / std::log(10000.0);
  double high = 8 * std::log(1024 / (2 * M_PI)) / std::log(10000.0), ramp = (4 - low) / (high - low);
  EXPECT_NEAR(inverseFrequencies(rotary, 16)[4], 0.01 * (1 - ramp + ramp / 4), 1e-15);
}

TEST(Rotary, partOfAHead) {
  Rotary rotary;
  rotary.share = 0.5;
  EXPECT_EQ(rotary.countPairs(16), 4);
  EXPECT_EQ(inverseFrequencies(rotary, 16), inverseFrequencies(Rotary(), 8));
  EXPECT_EQ(real(read(llama, {"partial_rotary_factor=0.5"}), "partial_rotary_factor"), 0.5);
  EXPECT_TRUE(contains(failure(llama, {"partial_rotary_factor=0.2"}),
                       "the head dimension is 16, of which 'partial_rotary_factor' = 0.2"));
  EXPECT_TRUE(contains(failure(llama, {"partial_rotary_factor=1.5"}), "expected a number of at most 1"));
}

TEST(Rotary, refusesScalings) {
  EXPECT_TRUE(contains(
      failScaling(R"({"rope_type": "longrope", "factor": 4})"),
      "\"longrope\", which is not supported; supported are default, linear, dynamic, llama3 and yarn"));
  EXPECT_TRUE(contains(failScaling(R"({"rope_type": "yarn", "factor": -4})"),
                       "'rope_scaling.factor' is -4, expected a number greater than 0"));
  EXPECT_TRUE(contains(failScaling(R"({"rope_type": "yarn"})"), "'rope_scaling.factor' is missing"));
  EXPECT_TRUE(contains(failScaling(R"({"rope_type": "yarn", "factor": 2, "beta_fast": 1, "beta_slow": 2})"),
                       "beta_fast must be at least its beta_slow"));
  EXPECT_TRUE(
      contains(failScaling(R"({"rope_type": "yarn", "type": "linear", "factor": 2})"),
               "'rope_scaling.type' is \"linear\" but its synonym 'rope_type' is \"yarn\"; remove one"));
}

} // namespace
