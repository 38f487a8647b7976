// SHA-256 and Philox against published vectors; the documented derivations; layouts; learning rate.
#include "core/LearningRate.h"
#include "io/Sha256Blocks.h"
#include "par/io/Philox.h"
#include "par/io/Sha256.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace par;
using namespace par::io;

TEST(Sha256, PublishedVectors) { // FIPS 180-4, examples
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += char(i);
  for (size_t piece : {1u, 7u, 63u, 64u, 65u, 130u}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.update(text.data() + at, std::min(piece, text.size() - at));
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
  }
}

TEST(Sha256, InstructionsGiveWhatAnyProcessorGives) {
  Sha256Blocks instructions = sha256WithInstructions();
  if (!instructions)
    GTEST_SKIP() << "this processor has none";
  std::vector<unsigned char> data(64 * 9);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = (unsigned char)(i * 167 + (i >> 3));
  uint32_t fast[8] = {1, 2, 3, 4, 5, 6, 7, 8}, portable[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  instructions(fast, data.data(), 9);
  sha256Portable(portable, data.data(), 9);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(fast[i], portable[i]) << i;
}

TEST(Philox, PublishedVectors) { // Random123, kat_vectors: philox4x32 10
  auto expectWords = [](PhiloxWords words, std::array<uint32_t, 4> expected) {
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(words.word[i], expected[i]);
  };
  expectWords(philox(0, 0, 0, 0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expectWords(philox(~0u, ~0u, ~0u, ~0u, ~0u, ~0u), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expectWords(philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0),
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, PublishedHashes) {
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFull); // Vigna's splitmix64.c, state 0
  EXPECT_EQ(fnv1a64(""), 0xCBF29CE484222325ull);   // Noll's test vectors
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171F73967E8ull);
}

TEST(Philox, InitialNormalsAreNormal) {
  double sum = 0, squares = 0, fourth = 0;
  const int count = 200000;
  for (int j = 0; j < count; ++j) {
    double x = initialNormal(initialisationKey("a", 1), uint64_t(j));
    sum += x, squares += x * x, fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.01);
  EXPECT_NEAR(fourth / count, 3, 0.1);
  EXPECT_NE(initialNormal(initialisationKey("a", 1), 0), initialNormal(initialisationKey("b", 1), 0));
  EXPECT_NE(initialNormal(initialisationKey("a", 1), 0), initialNormal(initialisationKey("a", 2), 0));
  EXPECT_NE(initialNormal(7, 1), initialNormal(7, 1ull << 32)); // the high word counts
}

TEST(Philox, RandomTokensAreUniform) {
  int counts[10] = {0};
  for (uint64_t t = 0; t < 100000; ++t) {
    uint32_t token = randomToken(3, t, 10);
    ASSERT_LT(token, 10u);
    ++counts[token];
  }
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 500);
}

TEST(Philox, DropoutKeysFollowSeedAndStep) {
  EXPECT_EQ(dropoutKey(0, 1), splitmix64(0xE220A8397B1DCDAFull + 1));
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (uint64_t step = 1; step <= 10; ++step)
      keys.insert(dropoutKey(seed, step));
  EXPECT_EQ(keys.size(), 100u);
}

TEST(Philox, DropoutThresholdCountsExactly) {
  EXPECT_EQ(dropoutThreshold(0.5), 1ull << 31);
  EXPECT_EQ(dropoutThreshold(0), 0u);
  EXPECT_EQ(dropoutThreshold(0.1), 429496730u); // ceil(429496729.6)
}

TEST(LearningRate, Formulas) {
  rt::Hyperparameters hyper;
  hyper.lr = 1, hyper.warmupSteps = 4;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 1, 100), 0.25);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 4, 100), 1);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 90, 100), 1);
  hyper.schedule = rt::LrSchedule::cosine, hyper.minLr = 0.2;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 52, 100), 0.6); // half way
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 100, 100), 0.2);
  hyper.decaySteps = 10;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 7, 100), 0.6);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 11, 100), 0.2);
}

TEST(LearningRate, Linear) {
  rt::Hyperparameters hyper;
  hyper.lr = 1, hyper.minLr = 0.2, hyper.warmupSteps = 4, hyper.schedule = rt::LrSchedule::linear;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 2, 100), 0.5);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 4, 100), 1);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 28, 100), 0.8); // a quarter of the way
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 100, 100), 0.2);
  hyper.decaySteps = 10;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 7, 100), 0.6);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 11, 100), 0.2);
}

TEST(LearningRate, WarmupStableDecay) {
  rt::Hyperparameters hyper;
  hyper.lr = 1, hyper.minLr = 0.2, hyper.warmupSteps = 4;
  hyper.schedule = rt::LrSchedule::warmupStableDecay;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 2, 100), 0.5);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 90, 100), 1); // the last tenth decays
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 95, 100), 0.6);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 100, 100), 0.2);
  hyper.decaySteps = 50; // a tenth of those
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 45, 100), 1);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 48, 100), 0.52);
  hyper.decaySteps = 0, hyper.cooldownSteps = 40;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 60, 100), 1);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 70, 100), 0.8);
  hyper.decaySteps = 80;
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 50, 100), 0.8);
  EXPECT_DOUBLE_EQ(rt::learningRate(hyper, 81, 100), 0.2);
  EXPECT_EQ(rt::scheduleProblem(hyper, 100, "--steps 100"), "");
  hyper.warmupSteps = 41;
  EXPECT_NE(rt::scheduleProblem(hyper, 100, "--steps 100"), "");
}
