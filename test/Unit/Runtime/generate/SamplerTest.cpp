// The next token: the likeliest, or one drawn from those that --top-k and --top-p leave.
#include "generate/Sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace par::generating;

namespace {
/// The tokens that 2000 positions draw.
std::set<int32_t> drawn(const SamplerOptions &options, const std::vector<float> &logits) {
  std::set<int32_t> tokens;
  for (int64_t position = 0; position < 2000; ++position)
    tokens.insert(sampleToken(options, logits, position));
  return tokens;
}
} // namespace

TEST(Sampler, TopPTakesTheLikeliestThatReachIt) {
  // Probabilities 0.1, 0.4, 0.2, 0.3.
  std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};
  SamplerOptions options;
  options.temperature = 1;
  EXPECT_EQ(drawn(options, logits), (std::set<int32_t>{0, 1, 2, 3}));
  options.topP = 0.39;
  EXPECT_EQ(drawn(options, logits), (std::set<int32_t>{1}));
  options.topP = 0.41;
  EXPECT_EQ(drawn(options, logits), (std::set<int32_t>{1, 3}));
  options.topP = 0.89;
  EXPECT_EQ(drawn(options, logits), (std::set<int32_t>{1, 2, 3}));
  options.topK = 2; // of those first: 4/7 and 3/7
  EXPECT_EQ(drawn(options, logits), (std::set<int32_t>{1, 3}));
  options.topP = 0.5;
  EXPECT_EQ(drawn(options, logits), (std::set<int32_t>{1}));
}

TEST(Sampler, TopPKeepsTheRatios) {
  std::vector<float> logits = {std::log(0.6f), std::log(0.3f), std::log(0.1f)};
  SamplerOptions options;
  options.temperature = 1, options.topP = 0.85;
  int first = 0;
  for (int64_t position = 0; position < 30000; ++position)
    first += sampleToken(options, logits, position) == 0;
  EXPECT_NEAR(first / 30000.0, 2.0 / 3, 0.01);
}
