// Windows of files and of random data (tools' contract, item 2).
#include "par/io/TokenData.h"
#include "TinyPackage.h"
#include "par/io/Philox.h"

#include <gtest/gtest.h>

using namespace par::io;
using namespace par::test;

namespace {
std::vector<int32_t> window(const TokenData &data, int64_t number, int64_t sequence) {
  std::vector<int32_t> tokens(size_t(sequence + 1), -1);
  data.window(number, tokens.data());
  return tokens;
}
using Tokens = std::vector<int32_t>;
} // namespace

TEST(TokenData, BytesWithTailAndWrap) {
  TemporaryFolder folder;
  writeText(folder / "x.txt", "abcdefgh\xFFj"); // 3 windows of 3 and a tail
  TokenData data;
  ASSERT_TRUE(data.open(folder / "x.txt", TokenType::automatic, 2, 256, 0).ok());
  EXPECT_EQ(data.windowCount(), 3);
  EXPECT_EQ(window(data, 0, 2), (Tokens{'a', 'b', 'c'}));
  EXPECT_EQ(window(data, 2, 2), (Tokens{'g', 'h', 255}));
  EXPECT_EQ(window(data, 3, 2), (Tokens{'a', 'b', 'c'}));
  EXPECT_EQ(window(data, 3000001, 2), (Tokens{'d', 'e', 'f'}));
}

TEST(TokenData, BinaryTypesFollowTheVocabulary) {
  TemporaryFolder folder;
  writeText(folder / "x.bin", std::string("\x01\x00\x02\x01\x03\x00\x04\x00", 8));
  TokenData small, large, bytes;
  ASSERT_TRUE(small.open(folder / "x.bin", TokenType::automatic, 3, 65536, 0).ok());
  EXPECT_EQ(window(small, 0, 3), (Tokens{1, 258, 3, 4}));
  EXPECT_EQ(small.typeNames(), "uint16");
  ASSERT_TRUE(large.open(folder / "x.bin", TokenType::automatic, 1, 65537, 0).ok());
  EXPECT_EQ(window(large, 0, 1), (Tokens{0x01020001, 0x00040003}));
  ASSERT_TRUE(bytes.open(folder / "x.bin", TokenType::uint8, 1, 256, 0).ok());
  EXPECT_EQ(window(bytes, 1, 1), (Tokens{2, 1}));
}

/// Text for a model of words would train without a word, on bytes.
TEST(TokenData, BytesAreTokensOfSmallVocabulariesOnly) {
  TemporaryFolder folder;
  writeText(folder / "train.txt", "abcdefgh");
  writeText(folder / "train", "abcdefgh");
  DataOptions options;
  options.sources = {folder / "train.txt"};
  TokenData bytes, meant, wrong;
  ASSERT_EQ(bytes.open(options, 3, 256, 0).message(), "");
  EXPECT_EQ(bytes.typeNames(), "uint8");
  options.type = TokenType::uint8;
  ASSERT_EQ(meant.open(options, 3, 257, 0).message(), "");
  options.type = TokenType::automatic;
  options.tokenizer = "m.par/tokenizer.json";
  EXPECT_EQ(
      wrong.open(options, 3, 257, 0).message(),
      (folder / "train.txt") +
          ": is no .bin, so its bytes would be the tokens of a model that has 257 tokens; make tokens of "
          "it with par-data " +
          (folder / "train.txt") + " --tokenizer m.par/tokenizer.json -o " + (folder / "train.bin") +
          ", or give --data-dtype uint8 if bytes are meant");
  options.sources = {folder / "train"}, options.tokenizer.clear();
  std::string message = TokenData().open(options, 3, 257, 0).message();
  EXPECT_NE(message.find("--tokenizer HF_DIR -o " + (folder / "train.bin")), std::string::npos) << message;
}

TEST(TokenData, TokensBeyondTheVocabularyAreNamed) {
  TemporaryFolder folder;
  writeText(folder / "x.txt", std::string("\0\1\2\3\4\5\6\7", 8));
  TokenData data;
  ASSERT_TRUE(data.open(folder / "x.txt", TokenType::automatic, 1, 5, 0).ok());
  EXPECT_EQ(data.checkVocabulary(2).message(), ""); // these windows are fine
  std::string message = data.checkVocabulary(3).message();
  EXPECT_NE(message.find("x.txt: token 5 is 5"), std::string::npos) << message;
  EXPECT_NE(data.checkVocabulary(INT64_MAX).message(), "");
}

TEST(TokenData, FilesThatCannotServeAreNamed) {
  TemporaryFolder folder;
  writeText(folder / "odd.bin", "abc");
  writeText(folder / "empty.txt", "");
  auto message = [&](const std::string &name) {
    TokenData data;
    return data.open(folder / name, TokenType::automatic, 3, 256, 0).message();
  };
  EXPECT_NE(message("odd.bin").find("no whole number of 2-byte tokens"), std::string::npos);
  EXPECT_NE(message("empty.txt").find("has no tokens"), std::string::npos);
  EXPECT_NE(message("missing.txt").find("cannot be read"), std::string::npos);
  EXPECT_NE(message(".").find("not a regular file"), std::string::npos);
}

/// Small sets of instructions train at any length; what is left behind whole windows is dropped as ever.
TEST(TokenData, AFileShorterThanAWindowIsFilledUp) {
  TemporaryFolder folder;
  writeText(folder / "three", "abc");
  writeText(folder / "five", "ABCDE");
  DataOptions options;
  options.sources = {folder / "three", folder / "five"};
  TokenData data;
  ASSERT_EQ(data.open(options, 3, 256, 0).message(), "");
  EXPECT_EQ(data.windowCount(), 2);
  Tokens short_ = window(data, 0, 3), targets(short_.begin() + 1, short_.end());
  EXPECT_EQ(short_, (Tokens{'a', 'b', 'c', paddingToken}));
  data.maskTargets(0, short_.data(), targets.data());
  EXPECT_EQ(targets, (Tokens{'b', 'c', ignoredTarget}));
  EXPECT_EQ(window(data, 1, 3), (Tokens{'A', 'B', 'C', 'D'}));
  EXPECT_EQ(data.countTargets(0, 2), 5);
  EXPECT_EQ(data.countTargets(0, 4), 10);
  EXPECT_EQ(data.checkVocabulary(INT64_MAX).message(), "");
  EXPECT_EQ(data.checkTargets(0, 2).message(), "");
  for (int64_t sequence : {1, 2, 4, 5, 1000}) {
    TokenData other;
    ASSERT_EQ(other.open(options, sequence, 256, 0).message(), "");
    int64_t threes = std::max<int64_t>(1, 3 / (sequence + 1)),
            fives = std::max<int64_t>(1, 5 / (sequence + 1));
    EXPECT_EQ(other.windowCount(), threes + fives);
    EXPECT_EQ(other.countTargets(0, other.windowCount()),
              threes * std::min<int64_t>(sequence, 2) + fives * std::min<int64_t>(sequence, 4));
  }
  writeText(folder / "one", "a");
  TokenData one;
  ASSERT_EQ(one.open(folder / "one", TokenType::automatic, 3, 256, 0).message(), "");
  EXPECT_EQ(one.countTargets(0, 1), 0);
  EXPECT_NE(
      one.checkTargets(0, 5).message().find("no token is a target (all are masked, or too few to have one)"),
      std::string::npos);
}

TEST(TokenData, RandomIsOneEndlessStream) {
  TokenData data;
  ASSERT_TRUE(data.open("random", TokenType::automatic, 4, 50000, 11).ok());
  Tokens far = window(data, 1000000007, 4);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(far[size_t(i)], int32_t(randomToken(11, 1000000007ull * 5 + uint64_t(i), 50000)));
  EXPECT_EQ(data.checkVocabulary(INT64_MAX).message(), "");
}
