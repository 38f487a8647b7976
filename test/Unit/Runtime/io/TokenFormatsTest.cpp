// Formats of token files, several files, the order of windows, documents.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "par/io/TokenData.h"

#include <gtest/gtest.h>

#include <set>

using namespace par::io;
using namespace par::test;
using nlohmann::json;

namespace {

template <typename T>
std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

/// llm.c numbers the versions of both its types of token on.
std::string llmcHeader(int32_t magic, int32_t tokens, int32_t version) {
  std::vector<int32_t> header(256, 0);
  header[0] = magic, header[1] = version, header[2] = tokens;
  return bytesOf(header);
}

/// An index whose documents are sequences of these lengths.
std::string megatronIndex(char code, int64_t elementBytes, const std::vector<int32_t> &lengths) {
  std::vector<int64_t> pointers, bounds{0};
  int64_t at = 0;
  for (int32_t length : lengths) {
    pointers.push_back(at * elementBytes);
    at += length;
    bounds.push_back(int64_t(bounds.size()));
  }
  return std::string("MMIDIDX\0\0", 9) + bytesOf<uint64_t>({1}) + code +
         bytesOf<uint64_t>({lengths.size(), bounds.size()}) + bytesOf(lengths) + bytesOf(pointers) +
         bytesOf(bounds);
}

using Tokens = std::vector<int32_t>;
Tokens window(const TokenData &data, int64_t number, int64_t sequence) {
  Tokens tokens(size_t(sequence + 1), -1);
  data.window(number, tokens.data());
  return tokens;
}

class TokenFormats : public testing::Test {
protected:
  std::string messageOf(const std::string &name, TokenType type = TokenType::automatic) {
    TokenData data;
    return data.open(folder / name, type, 1, 65536, 0).message();
  }
  void expectMessage(const std::string &part, TokenType type = TokenType::automatic) {
    std::string message = messageOf("x.bin", type);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
  }
  TemporaryFolder folder;
};

} // namespace

TEST_F(TokenFormats, HeadersOfLlmc) {
  writeText(folder / "gpt2.bin", llmcHeader(20240520, 5, 1) + bytesOf<uint16_t>({1, 2, 50256, 4, 5}));
  writeText(folder / "llama.bin", llmcHeader(20240801, 3, 7) + bytesOf<uint32_t>({1, 128000, 3}));
  TokenData gpt2, llama;
  ASSERT_EQ(gpt2.open(folder / "gpt2.bin", TokenType::automatic, 1, 50257, 0).message(), "");
  EXPECT_EQ(gpt2.windowCount(), 2);
  EXPECT_EQ(window(gpt2, 1, 1), (Tokens{50256, 4}));
  ASSERT_EQ(llama.open(folder / "llama.bin", TokenType::automatic, 2, 128256, 0).message(), "");
  EXPECT_EQ(window(llama, 0, 2), (Tokens{1, 128000, 3}));
  writeText(folder / "x.bin", llmcHeader(20240520, 5, 1) + bytesOf<uint16_t>({1, 2, 3, 4}));
  expectMessage("x.bin: llm.c's header says 5 tokens of 2 bytes, but 8 bytes follow it");
  writeText(folder / "x.bin", llmcHeader(20240520, 4, 99) + bytesOf<uint16_t>({1, 2, 3, 4}));
  expectMessage("x.bin: llm.c's header has version 99, this reader knows version 1");
  writeText(folder / "x.bin", llmcHeader(20240801, 2, 1) + bytesOf<uint32_t>({1, 2}));
  expectMessage("x.bin: llm.c's header has version 1, this reader knows version 7");
  writeText(folder / "x.bin", llmcHeader(20240520, 5, 1).substr(0, 100));
  expectMessage("llm.c's header has 1024 bytes, the file only 100");
  writeText(folder / "x.bin", llmcHeader(20240520, 2, 1) + bytesOf<uint16_t>({1, 2}));
  expectMessage("states its own type; leave --data-dtype out", TokenType::uint32);
}

TEST_F(TokenFormats, IndicesOfMegatron) {
  writeText(folder / "x.bin", bytesOf<uint16_t>({10, 11, 12, 20, 21, 30}));
  writeText(folder / "x.idx", megatronIndex(8, 2, {3, 2, 1}));
  for (const char *name : {"x.bin", "x.idx"}) {
    TokenData data;
    ASSERT_EQ(data.open(folder / name, TokenType::automatic, 2, 65536, 0).message(), "");
    EXPECT_EQ(window(data, 1, 2), (Tokens{20, 21, 30}));
  }
  writeText(folder / "i.bin", bytesOf<int32_t>({70000, -1}));
  writeText(folder / "i.idx", megatronIndex(4, 4, {2}));
  TokenData wide;
  ASSERT_EQ(wide.open(folder / "i.bin", TokenType::automatic, 1, 128000, 0).message(), "");
  EXPECT_EQ(window(wide, 0, 1), (Tokens{70000, -1}));
  EXPECT_NE(wide.checkVocabulary(1).message().find("i.bin: token 1 is -1"), std::string::npos);
}

TEST_F(TokenFormats, DamagedIndicesAreNamed) {
  std::string good = megatronIndex(8, 2, {3, 2, 1});
  writeText(folder / "x.bin", bytesOf<uint16_t>({10, 11, 12, 20, 21, 30}));
  auto expectIndex = [&](std::string index, const std::string &part) {
    writeText(folder / "x.idx", index);
    expectMessage(part);
  };
  auto with = [&](size_t at, char byte) {
    std::string changed = good;
    changed[at] = byte;
    return changed;
  };
  expectIndex("", "x.idx: does not begin like a Megatron index");
  expectIndex(with(0, 'X'), "does not begin like a Megatron index");
  expectIndex(with(9, 2), "version is 2, expected 1");
  expectIndex(with(17, 7), "type code is 7");
  expectIndex(good.substr(0, good.size() - 1), "do not fit its");
  expectIndex(with(25, '\x7F'), "do not fit its");
  expectIndex(with(34, 4), "sequence 1 does not begin where the one before it ends");
  expectIndex(with(good.size() - 8, 0), "document 3 begins with sequence 0, before the one ahead of it");
  expectIndex(with(good.size() - 8, 9), "document 3 begins with sequence 9 of 3");
  writeText(folder / "x.bin", "abc");
  expectIndex(good, "x.bin: has 3 bytes, but ");
  writeText(folder / "x.bin", bytesOf<uint16_t>({10, 11, 12, 20, 21, 30}));
  expectMessage("states its own type", TokenType::uint16);
}

TEST_F(TokenFormats, NoWindowSpansTwoFiles) {
  writeText(folder / "a", "abcdefg");
  writeText(folder / "b", "ABCD");
  TokenData data;
  DataOptions options;
  options.sources = {folder / "a", folder / "b"};
  ASSERT_EQ(data.open(options, 1, 256, 0).message(), "");
  EXPECT_EQ(data.windowCount(), 5);
  EXPECT_EQ(window(data, 2, 1), (Tokens{'e', 'f'}));
  EXPECT_EQ(window(data, 3, 1), (Tokens{'A', 'B'}));
  EXPECT_EQ(window(data, 5, 1), (Tokens{'a', 'b'}));
  options.sources = {folder / "a", "random"};
  EXPECT_NE(TokenData().open(options, 1, 256, 0).message().find("random: cannot be read"), std::string::npos);
}

TEST(WindowOrder, IsAPermutation) {
  for (int64_t count : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097}) {
    std::set<int64_t> seen;
    int64_t fixed = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = permuted(i, count, 99);
      EXPECT_TRUE(at >= 0 && at < count);
      seen.insert(at);
      fixed += at == i;
    }
    EXPECT_EQ(int64_t(seen.size()), count);
    if (count > 60) // one is expected to stay, whatever the count
      EXPECT_LT(fixed, 10);
  }
}

TEST(WindowOrder, PassesAndSeedsDiffer) {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += char(i);
  writeText(folder / "x", text);
  DataOptions options;
  options.sources = {folder / "x"}, options.shuffle = true;
  auto order = [&](uint64_t seed, int64_t pass) {
    TokenData data;
    EXPECT_EQ(data.open(options, 1, 256, seed).message(), "");
    Tokens firsts;
    for (int64_t i = 0; i < 100; ++i)
      firsts.push_back(window(data, 100 * pass + i, 1)[0]);
    EXPECT_EQ(std::set<int32_t>(firsts.begin(), firsts.end()).size(), 100u) << "a window is missing";
    return firsts;
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));
  EXPECT_NE(order(1, 1), order(2, 0));
}

TEST(Documents, FirstTokensAreNoTargets) {
  TemporaryFolder folder;
  writeText(folder / "x.bin", bytesOf<uint16_t>({10, 11, 12, 20, 21, 30, 31, 32}));
  writeText(folder / "x.idx", megatronIndex(8, 2, {3, 2, 3}));
  writeText(folder / "y", std::string("a.bc.def", 8));
  DataOptions options;
  options.documents = Documents::mask;
  auto targets = [&](const std::string &file, int64_t number) {
    TokenData data;
    options.sources = {folder / file};
    EXPECT_EQ(data.open(options, 3, 256, 0).message(), "");
    Tokens tokens = window(data, number, 3), masked(tokens.begin() + 1, tokens.end());
    data.maskTargets(number, tokens.data(), masked.data());
    int64_t counted = std::count_if(masked.begin(), masked.end(), [](int32_t t) { return t >= 0; });
    EXPECT_EQ(data.countTargets(number, 1), counted);
    return masked;
  };
  EXPECT_EQ(targets("x.bin", 0), (Tokens{11, 12, -100}));
  EXPECT_EQ(targets("x.bin", 1), (Tokens{-100, 31, 32}));
  options.sources = {folder / "y"};
  EXPECT_NE(TokenData().open(options, 3, 256, 0).message().find("y: does not say where its documents begin"),
            std::string::npos);
  options.documentEnd = '.';
  EXPECT_EQ(targets("y", 0), (Tokens{'.', -100, 'c'}));
  EXPECT_EQ(targets("y", 1), (Tokens{-100, 'e', 'f'}));
  options.sources = {"random"};
  EXPECT_NE(TokenData().open(options, 3, 256, 0).message().find("neither an order nor documents"),
            std::string::npos);
}

TEST(Documents, PositionsBeginWithEach) {
  TemporaryFolder folder;
  writeText(folder / "y", std::string("a.bc.def", 8));
  DataOptions options;
  options.sources = {folder / "y"};
  options.documentEnd = '.';
  auto find = [&](Documents kind, int64_t number) {
    TokenData data;
    options.documents = kind;
    EXPECT_EQ(data.open(options, 3, 256, 0).message(), "");
    Tokens tokens = window(data, number, 3), positions(3), documents(3);
    data.findDocuments(number, tokens.data(), positions.data(), documents.data());
    return std::make_pair(positions, documents);
  };
  // "a." and "b"; ".", behind which "de" begins: a window begins a document, too.
  EXPECT_EQ(find(Documents::isolate, 0), std::make_pair(Tokens{0, 1, 0}, Tokens{0, 0, 1}));
  EXPECT_EQ(find(Documents::isolate, 1), std::make_pair(Tokens{0, 0, 1}, Tokens{0, 1, 1}));
  // All tokens of a window are of one document where they are masked or packed.
  EXPECT_EQ(find(Documents::mask, 0), std::make_pair(Tokens{0, 1, 2}, Tokens{0, 0, 0}));
}

TEST(Documents, IgnoredTargetsAreNotInTheLossesDenominator) {
  // 10 windows of 6 tokens; token 9 ends a document. The tiny program's loss is proportional to loss_scale.
  TemporaryFolder folder;
  std::string data;
  for (int i = 0; i < 60; ++i)
    data += char(i % 7 == 3 ? 9 : i % 5);
  writeText(folder / "d", data);
  int64_t ignored = 0;
  for (int w = 0; w < TINY_BATCH; ++w)
    for (int i = 0; i < TINY_SEQ; ++i)
      ignored += data[size_t(w * (TINY_SEQ + 1) + i)] == 9;
  ASSERT_GT(ignored, 0);
  writePackage(folder / "one.par", tinyManifest(1, 1));
  writePackage(folder / "four.par", tinyManifest(2, 2));
  auto loss = [&](const std::string &package, const std::string &flags) {
    RunResult run = parRun((folder / package) + " --steps 1 --data " + (folder / "d") + " --metrics " +
                           (folder / "m") + flags);
    EXPECT_EQ(run.exitCode, 0) << run.output;
    return metricsOf(folder / "m")[0]["loss"].get<double>();
  };
  double all = loss("one.par", ""), some = loss("one.par", " --documents mask --document-end 9");
  double targets = TINY_BATCH * TINY_SEQ;
  EXPECT_NEAR(some, all * targets / (targets - double(ignored)), 1e-6);
  EXPECT_NEAR(loss("four.par", " --documents mask --document-end 9"), some, 1e-6);
}

TEST(Shuffled, EveryMeshSeesTheSame) {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i)
    text += char((i * i + i / 3) % TINY_VOCAB);
  writeText(folder / "a", text);
  writeText(folder / "b", text.substr(17));
  std::vector<double> losses[3]; // of a learning rate of 0: they tell the windows of steps apart
  std::set<std::string> hashes;
  int which = 0;
  for (auto [dp, tp] : {std::pair(1, 1), std::pair(2, 2), std::pair(4, 1)}) {
    writePackage(folder / "t.par", tinyManifest(dp, tp));
    std::string files = dp == 1 ? " --data " + (folder / "a") + " --data " + (folder / "b")
                                : " --data " + (folder / "a") + "," + (folder / "b");
    RunResult run = parRun((folder / "t.par") + " --steps 40 --lr 0 --shuffle --seed 6" + files +
                           " --metrics " + (folder / "m"));
    ASSERT_EQ(run.exitCode, 0) << run.output;
    hashes.insert(metricsOf(folder / "m")[0]["data_hash"]);
    for (const json &line : metricsOf(folder / "m"))
      losses[which].push_back(line["loss"]);
    ++which;
  }
  EXPECT_EQ(hashes.size(), 1u);
  for (size_t i = 0; i < 40; ++i)
    for (int mesh : {1, 2})
      EXPECT_NEAR(losses[0][i], losses[mesh][i], 1e-7) << "step " << i + 1;
  EXPECT_GT(std::set<double>(losses[0].begin(), losses[0].end()).size(), 38u); // passes differ
}
