// What par-data says of a file of tokens, and what the bytes say where nothing does: tokens of another width,
// of another tokenizer, of another file are refused.
#include "par/io/TokenDescription.h"
#include "TinyPackage.h"
#include "par/io/TokenData.h"

#include <gtest/gtest.h>

using namespace par::io;
using namespace par::test;
using nlohmann::json;

namespace {

template <typename T>
std::string bytesOf(const std::vector<uint32_t> &values) {
  std::vector<T> list(values.begin(), values.end());
  return {reinterpret_cast<const char *>(list.data()), list.size() * sizeof(T)};
}

/// Ids of a text: some are frequent, 0 among them.
std::vector<uint32_t> ids(size_t count, uint32_t below) {
  std::vector<uint32_t> list;
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    list.push_back((state >> 28) == 0 ? 0 : (state >> 8) % below);
  }
  return list;
}

class TokenDescriptions : public testing::Test {
protected:
  std::string open(const std::string &bytes, uint32_t vocabulary, TokenType type = TokenType::automatic,
                   const std::string &tokenizer = "", const std::string &name = "x.bin") {
    writeText(folder / name, bytes);
    TokenData data;
    DataOptions options;
    options.sources = {folder / name}, options.type = type, options.tokenizer = tokenizer;
    std::string message = data.open(options, 3, vocabulary, 0).message();
    types = message.empty() ? data.typeNames() : "";
    return message;
  }
  /// A description of these bytes.
  TokenDescription of(const std::string &bytes, const std::string &type, int64_t tokens) {
    TokenDescription about;
    about.type = type, about.bytes = int64_t(bytes.size()), about.tokens = about.targets = tokens;
    about.ends = EndsHash::of(bytes), about.vocabulary = 600, about.largest = 599;
    return about;
  }
  void describe(const TokenDescription &about) { writeText(folder / "x.bin.json", toJson(about)); }
  void expect(const std::string &message, const std::string &part) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
  }

  TemporaryFolder folder;
  std::string types;
};

} // namespace

/// Files of Megatron, dolma and others have nothing beside them.
TEST_F(TokenDescriptions, TokensOf32BitsAreNotReadAs16) {
  std::vector<uint32_t> some = ids(2000, 600);
  for (size_t count : {8, 20, 100, 2000}) {
    std::vector<uint32_t> part(some.begin(), some.begin() + int64_t(count));
    expect(open(bytesOf<uint32_t>(part), 600),
           "x.bin: would be read as uint16, as the model's vocabulary has 600 ids, but every second 16-bit "
           "word is 0 or small, as in a file of 32-bit tokens; give --data-dtype uint32, or --data-dtype "
           "uint16 if it is right");
  }
  std::vector<uint32_t> padded(5000, 0);
  std::copy(some.begin(), some.begin() + 100, padded.begin() + 3000);
  expect(open(bytesOf<uint32_t>(padded), 600), "every second 16-bit word is 0");
  EXPECT_EQ(open(bytesOf<uint32_t>(some), 600, TokenType::uint32), "");
  EXPECT_EQ(open(bytesOf<uint32_t>(some), 600, TokenType::uint16), ""); // whoever insists knows better
}

/// A rest that is cut off, single ids beyond 16 bits, and damage are passed over.
TEST_F(TokenDescriptions, ExceptionsDoNotHideTokensOf32Bits) {
  std::vector<uint32_t> some = ids(2000, 600), large = ids(2000, 128256);
  std::string bytes = bytesOf<uint32_t>(some), wide = "every second 16-bit word is 0";
  expect(open(bytes + "ab", 600), wide);
  expect(open(bytes.substr(0, bytes.size() - 2), 600), wide);
  some[0] = 65536;
  expect(open(bytesOf<uint32_t>(some), 600), wide);
  std::vector<uint32_t> few = ids(2000, 5); // as of an alphabet
  few[0] = 65536;
  expect(open(bytesOf<uint32_t>(few), 600), wide);
  for (size_t i = 0; i < some.size(); i += 100)
    some[i] = 70000;
  expect(open(bytesOf<uint32_t>(some), 65536), wide);
  expect(open(bytesOf<uint32_t>(large), 65536), wide); // of a tokenizer with twice as many ids
}

/// Lists of tokens as NumPy and PyTorch write them. Their advice was once to read them as uint32.
TEST_F(TokenDescriptions, IntegersOf64BitsAreNamed) {
  std::vector<uint32_t> some = ids(2000, 600);
  const std::string found =
      "every second 32-bit word is 0, as in a file of 64-bit integers, which are not read; "
      "convert it with numpy.fromfile(\"" +
      (folder / "x.bin") +
      "\", \"<i8\").astype(\"<u4\").tofile(\"NEW.bin\"), and give "
      "that with --data-dtype uint32";
  for (size_t count : {8, 20, 100, 2000}) {
    std::string bytes = bytesOf<uint64_t>({some.begin(), some.begin() + int64_t(count)});
    expect(open(bytes, 600),
           "x.bin: would be read as uint16, as the model's vocabulary has 600 ids, but " + found);
    expect(open(bytes, 70000),
           "would be read as uint32, as the model's vocabulary has 70000 ids, but " + found);
    expect(open(bytes, 600, TokenType::uint16),
           "would be read as uint16, as --data-dtype says, but " + found);
    expect(open(bytes, 600, TokenType::uint32),
           "would be read as uint32, as --data-dtype says, but " + found);
    EXPECT_EQ(open(bytes, 600).find("if it is right"), std::string::npos);
    EXPECT_EQ(open(bytes, 600, TokenType::uint8), "");
  }
  expect(open(bytesOf<uint64_t>(ids(2000, 150000)), 151936), found);
  // What par-data wrote is what it says, and mostly zeros say nothing against whoever gives a type.
  std::string pairs = bytesOf<uint32_t>({5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 5, 0}), sparse;
  for (uint32_t i = 0; i < 40; ++i)
    sparse += bytesOf<uint32_t>({i + 1}) + std::string(196, 0);
  expect(open(pairs, 600, TokenType::uint32), found);
  EXPECT_EQ(open(sparse, 600, TokenType::uint32), "");
  expect(open(sparse, 70000), "or --data-dtype uint32 if it is right");
  describe(of(pairs, "uint32", 12));
  EXPECT_EQ(open(pairs, 600), "");
}

TEST_F(TokenDescriptions, RightfulTokensOf16BitsAreRead) {
  for (uint32_t below : {2u, 3u, 10u, 600u, 65536u})
    for (size_t count : {4, 8, 9, 100, 20000})
      EXPECT_EQ(open(bytesOf<uint16_t>(ids(count, below)), 65536), "") << below << " " << count;
  EXPECT_EQ(open(std::string(4000, 0), 600), ""); // all padding
  std::vector<uint32_t> sparse(4000, 0), rows(4000, 0);
  sparse[2] = 7, sparse[1000] = 8;
  for (size_t i = 0; i < rows.size(); i += 50) // rows of a few tokens, filled up with 0
    rows[i] = 5, rows[i + 1] = 6, rows[i + 2] = 7;
  EXPECT_EQ(open(bytesOf<uint16_t>(sparse), 600), "");
  EXPECT_EQ(open(bytesOf<uint16_t>(rows), 600), "");
}

TEST_F(TokenDescriptions, TokensOf16BitsAreNotReadAs32) {
  expect(open(bytesOf<uint16_t>(ids(2000, 60000)), 128256),
         "most 32-bit words are beyond it, as in a file of 16-bit tokens; give --data-dtype uint16");
  EXPECT_EQ(open(bytesOf<uint16_t>(ids(2000, 60000)), 128256, TokenType::uint16), "");
  EXPECT_EQ(open(bytesOf<uint32_t>(ids(2000, 128256)), 128256), "");
  // Rows of a few tokens, filled up with 0.
  std::vector<uint32_t> rows(4000, 0);
  for (size_t i = 0; i < rows.size(); i += 51)
    rows[i] = 205, rows[i + 1] = 306, rows[i + 2] = 407;
  expect(open(bytesOf<uint16_t>(rows), 70000), "as in a file of 16-bit tokens; give --data-dtype uint16");
  EXPECT_EQ(open(bytesOf<uint16_t>(rows), 600), "");
  EXPECT_EQ(open(bytesOf<uint32_t>(rows), 70000), "");
  expect(open(bytesOf<uint32_t>(rows), 600), "give --data-dtype uint32");
}

TEST_F(TokenDescriptions, SayTheType) {
  std::string wide = bytesOf<uint32_t>(ids(40, 600)), narrow = bytesOf<uint16_t>(ids(40, 600));
  describe(of(wide, "uint32", 40));
  EXPECT_EQ(open(wide, 600), "");
  EXPECT_EQ(types, "uint32");
  EXPECT_EQ(open(wide, 600, TokenType::uint32), "");
  expect(open(wide, 600, TokenType::uint16), "x.bin: was written as uint32, as " + (folder / "x.bin.json") +
                                                 " says, not as uint16; leave --data-dtype");
  describe(of(narrow, "uint16", 40));
  EXPECT_EQ(open(narrow, 100000), ""); // a vocabulary that is padded beyond 65,536
  EXPECT_EQ(types, "uint16");
  describe(of(wide, "uint16", 40));
  expect(open(wide, 600), "x.bin.json: says 40 tokens of uint16, but");
  describe(of(narrow, "uint32 with masked targets", 40));
  expect(open(narrow, 600), "x.bin.json: says 40 tokens of uint32 with masked targets, but");
}

TEST_F(TokenDescriptions, AreOfTheirFile) {
  std::string bytes = bytesOf<uint16_t>(ids(40, 600)), other = bytes;
  other[20] ^= 1;
  describe(of(bytes, "uint16", 40));
  EXPECT_EQ(open(bytes, 600), "");
  expect(open(other, 600), "x.bin: was changed after par-data wrote it");
  expect(open(bytes + bytes, 600), "x.bin: has 160 bytes, but " + (folder / "x.bin.json") + " says 80");
  // Of a long file both ends are looked at.
  std::string large = bytesOf<uint16_t>(ids(size_t(3) << 20, 600));
  describe(of(large, "uint16", int64_t(3) << 20));
  EXPECT_EQ(open(large, 600), "");
  large.back() ^= 1;
  expect(open(large, 600), "was changed");
}

TEST_F(TokenDescriptions, StreamsHaveTheHashOfTheWhole) {
  std::string whole = bytesOf<uint16_t>(ids(size_t(2) << 20, 600));
  for (size_t part : {size_t(1000), size_t(1) << 19, whole.size()})
    for (size_t size : {size_t(0), size_t(10), size_t(1) << 20, whole.size()}) {
      EndsHash hash;
      for (size_t at = 0; at < size; at += part)
        hash.add(std::string_view(whole).substr(at, std::min(part, size - at)));
      EXPECT_EQ(hash.finish(), EndsHash::of(std::string_view(whole).substr(0, size))) << part << " " << size;
    }
}

TEST_F(TokenDescriptions, AreOfTheModelsTokenizer) {
  std::string bytes = bytesOf<uint16_t>(ids(40, 600));
  json tokenizer = {{"model", {{"vocab", {{"a", 0}, {"b", 1}}}, {"merges", json::array({"a b"})}}},
                    {"added_tokens", json::array({{{"id", 2}, {"content", "</s>"}}})}};
  writeText(folder / "own.json", tokenizer.dump());
  tokenizer["model"]["merges"] = json::array({json::array({"a", "b"})}), tokenizer["padding"] = nullptr;
  writeText(folder / "same.json", tokenizer.dump(4));
  tokenizer["model"]["vocab"] = {{"a", 1}, {"b", 0}};
  writeText(folder / "other.json", tokenizer.dump());
  TokenDescription about = of(bytes, "uint16", 40);
  ASSERT_EQ(hashTokenizer(folder / "own.json", about.tokenizer).message(), "");
  about.vocabulary = 601; // a token without a row of the model is no matter where no text has it
  describe(about);
  EXPECT_EQ(open(bytes, 600, TokenType::automatic, folder / "own.json"), "");
  EXPECT_EQ(open(bytes, 600, TokenType::automatic, folder / "same.json"), "");
  expect(open(bytes, 600, TokenType::automatic, folder / "other.json"),
         "x.bin: was written with another tokenizer than the model's, " + (folder / "other.json"));
  expect(open(bytes, 600), "x.bin: was written with a tokenizer of 601 ids, as");
  expect(open(bytes, 599, TokenType::automatic, folder / "own.json"),
         "x.bin: has token 599, as " + (folder / "x.bin.json") +
             " says, but the model's vocabulary has ids 0 to 598");
}

TEST_F(TokenDescriptions, FilesOfOthersAreNone) {
  std::string bytes = bytesOf<uint16_t>(ids(40, 600));
  for (const char *text : {"{}", "[1]", "{\"written_by\": \"me\"}", "not JSON", "{\"bytes\": 3}"}) {
    writeText(folder / "x.bin.json", text);
    EXPECT_EQ(open(bytes, 600), "") << text;
    expect(checkDescribable(folder / "x.bin").message(), "x.bin.json: is no description that par-data wrote");
  }
  describe(of(bytes, "uint16", 40));
  EXPECT_EQ(checkDescribable(folder / "x.bin").message(), "");
  std::string good = readText(folder / "x.bin.json");
  json changed = json::parse(good);
  changed["tokens"] = -1;
  writeText(folder / "x.bin.json", changed.dump());
  expect(open(bytes, 600), "x.bin.json: is damaged (tokens: is -1, expected an integer");
  changed["tokens"] = 40, changed["version"] = 2;
  writeText(folder / "x.bin.json", changed.dump());
  expect(open(bytes, 600), "version: is 2, this par reads 1");
}

/// Data whose description was cut off would be read as their bytes look.
TEST_F(TokenDescriptions, DamagedOnesAreRefused) {
  std::string bytes = bytesOf<uint16_t>(ids(40, 600));
  TokenDescription about = of(bytes, "uint16", 40);
  describe(about);
  std::string good = readText(folder / "x.bin.json"), wide;
  for (char letter : good)
    wide += {letter, '\0'};
  for (const std::string &text : {std::string(), good.substr(0, 1), good.substr(0, 10), good.substr(0, 40),
                                  good.substr(0, good.size() / 2), good.substr(0, good.size() - 3),
                                  std::string("\n"), "{\"x\": }" + good, "\xFF\xFE" + wide, good + good,
                                  std::string(10, '\0') + good, "\xEF\xBB\xBF" + good.substr(0, 100)}) {
    writeText(folder / "x.bin.json", text);
    expect(open(bytes, 600),
           "x.bin.json: is damaged (it is no JSON); write the tokens again with par-data, or");
    EXPECT_EQ(checkDescribable(folder / "x.bin").message(), "");
  }
  writeText(folder / "x.bin.json", "\xEF\xBB\xBF" + good);
  EXPECT_EQ(open(bytes, 600), "");
  writeText(folder / "x.bin.json", "{\"tokens\": 40," + good.substr(1));
  expect(open(bytes, 600), "x.bin.json: is damaged (it has \"tokens\" twice); write");
  // Conversations may have any number of roles.
  for (int i = 0; i < 100000; ++i)
    about.roles["role " + std::to_string(i)] = i;
  describe(about);
  EXPECT_GT(readText(folder / "x.bin.json").size(), 1u << 20);
  expect(open(bytes + bytes, 600), "x.bin: has 160 bytes, but ");
  EXPECT_EQ(open(bytes, 600), "");
  EXPECT_EQ(checkDescribable(folder / "x.bin").message(), "");
}

TEST_F(TokenDescriptions, ContradictionsAreRefused) {
  std::string bytes = bytesOf<uint16_t>(ids(40, 600));
  TokenDescription about = of(bytes, "uint16", 40);
  describe(about);
  json good = json::parse(readText(folder / "x.bin.json"));
  for (auto [name, value, message] : {std::tuple("targets", 41, "targets: is 41, but tokens is 40"),
                                      {"tokens", 81, "tokens: is 81, but bytes is 80"},
                                      {"end_token", 600, "end_token: is 600, but largest_id is 599"},
                                      {"largest_id", 600, "largest_id: is 600, but vocabulary is 600"},
                                      {"vocabulary", 599, "largest_id: is 599, but vocabulary is 599"},
                                      {"largest_id", -1, "largest_id: is -1, expected an integer"}}) {
    json changed = good;
    changed[name] = value;
    writeText(folder / "x.bin.json", changed.dump());
    expect(open(bytes, 600), "x.bin.json: is damaged (" + std::string(message));
  }
  good["vocabulary"] = 100000, good["largest_id"] = 65536;
  writeText(folder / "x.bin.json", good.dump());
  expect(open(bytes, 100000), "is damaged (largest_id: is 65536, but type is uint16)");
}

/// Data of which nothing is a target would train without a word.
TEST_F(TokenDescriptions, CountTheTargets) {
  std::string bytes = bytesOf<uint16_t>(ids(40, 600));
  TokenDescription about = of(bytes, "uint16", 40);
  about.targets = 0, about.roles = {{"gpt", 2}, {"human", 3}};
  describe(about);
  writeText(folder / "x.bin", bytes);
  TokenData data;
  ASSERT_EQ(data.open(folder / "x.bin", TokenType::automatic, 3, 600, 0).message(), "");
  expect(data.checkTargets(0, 1).message(),
         "x.bin: no token is a target, as " + (folder / "x.bin.json") +
             " says (its conversations have the roles \"gpt\", \"human\"); give data with some");
}

/// --documents mask needs no --document-end then.
TEST_F(TokenDescriptions, SayWhereDocumentsEnd) {
  std::string bytes = bytesOf<uint16_t>({5, 6, 9, 7, 8, 9, 5, 6});
  TokenDescription about = of(bytes, "uint16", 8);
  about.endToken = 9;
  describe(about);
  writeText(folder / "x.bin", bytes);
  DataOptions options;
  options.sources = {folder / "x.bin"}, options.documents = Documents::mask;
  TokenData data, given;
  ASSERT_EQ(data.open(options, 7, 600, 0).message(), "");
  EXPECT_EQ(data.countTargets(0, 1), 5);
  options.documentEnd = 7;
  expect(given.open(options, 7, 600, 0).message(), "x.bin: its documents end with token 9, as");
}
