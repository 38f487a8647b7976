// A conversation per row, or all of them packed into windows: par-data writes which, and par-run follows.
#include "ChatData.h"
#include "TinyProgram.h"
#include "par/io/TokenData.h"

using namespace par;
using namespace par::test;
using namespace std::string_literals;

namespace {

const std::string lines = R"({"prompt": "xyz", "completion": "xy"})"
                          "\n"
                          R"({"prompt": "x", "completion": "yzxyzxyz"})"
                          "\n"
                          R"({"prompt": "", "completion": "x"})"
                          "\n"
                          R"({"prompt": "z", "completion": "y"})"
                          "\n";

using Tokens = std::vector<int32_t>;

class Rows : public ChatData {
protected:
  uint32_t id(const char *token) { return uint32_t(tokenizer.find(token)); }
  /// The letters of a window's tokens, and of its targets; - is padding, or none.
  std::pair<std::string, std::string> window(const io::TokenData &data, int64_t number, int64_t sequence) {
    Tokens tokens(size_t(sequence + 1)), targets(tokens.size() - 1);
    data.window(number, tokens.data());
    std::copy(tokens.begin() + 1, tokens.end(), targets.begin());
    data.maskTargets(number, tokens.data(), targets.data());
    auto text = [&](const Tokens &list) {
      std::string all;
      for (int32_t token : list)
        all += token <= 0 ? "-" : std::string(tokenizer.bytes(uint32_t(token)));
      return all;
    };
    return {text(tokens), text(targets)};
  }
};

} // namespace

TEST_F(Rows, EveryConversationIsFilledUp) {
  ASSERT_EQ(parData(lines, "--pack none").exitCode, 0);
  EXPECT_EQ(readText(folder / "o.bin").substr(0, 8), io::rowsMagic);
  io::TokenData data;
  ASSERT_EQ(data.open(folder / "o.bin", io::TokenType::automatic, 6, 700, 0).message(), "");
  EXPECT_EQ(data.typeNames(), "uint32 with masked targets and a conversation per row");
  using Pair = std::pair<std::string, std::string>;
  // A row that is longer than a window goes on in the next, whose first token is this one's last; one token
  // alone has no target.
  ASSERT_EQ(data.windowCount(), 5);
  EXPECT_EQ(window(data, 0, 6), Pair("xyzxy--", "--xy--"));
  EXPECT_EQ(window(data, 1, 6), Pair("xyzxyzx", "yzxyzx"));
  EXPECT_EQ(window(data, 2, 6), Pair("xyz----", "yz----"));
  EXPECT_EQ(window(data, 3, 6), Pair("x------", "------"));
  EXPECT_EQ(window(data, 4, 6), Pair("zy-----", "y-----"));
  EXPECT_EQ(data.countTargets(0, 5), 11);
  EXPECT_EQ(data.checkVocabulary(5).message(), "");
  EXPECT_EQ(runShell(std::string(PAR_DATA) + " --tokenizer " + (folder / "model") + " --decode " +
                     (folder / "o.bin"))
                .output,
            "xyzxyxyzxyzxyzxzy");
  // Rows of whole windows, and of one token more.
  for (int64_t sequence : {7, 8, 1, 2}) {
    io::TokenData other;
    ASSERT_EQ(other.open(folder / "o.bin", io::TokenType::automatic, sequence, 700, 0).message(), "");
    for (int64_t i = 0; i < other.windowCount(); ++i)
      EXPECT_NE(window(other, i, sequence).first[0], '-');
    EXPECT_EQ(other.windowCount(), sequence == 7 ? 5 : sequence == 8 ? 4 : sequence == 2 ? 8 : 14);
    EXPECT_EQ(other.countTargets(0, other.windowCount()), 11) << sequence;
  }
}

TEST_F(Rows, PackedIsTheDefaultAndAFileOfBefore) {
  ASSERT_EQ(parData(lines).exitCode, 0);
  std::string packed = readText(folder / "o.bin");
  EXPECT_EQ(packed.substr(0, 8), io::maskedMagic);
  ASSERT_EQ(parData(lines, "--pack windows").exitCode, 0);
  EXPECT_EQ(readText(folder / "o.bin"), packed);
  io::TokenData data;
  ASSERT_EQ(data.open(folder / "o.bin", io::TokenType::automatic, 6, 700, 0).message(), "");
  ASSERT_EQ(data.windowCount(), 3); // of 17 tokens three are left for the last
  EXPECT_EQ(window(data, 0, 6).first, "xyzxyxy");
  EXPECT_EQ(window(data, 2, 6), std::pair("xzy----"s, "-y----"s));
  // A token that is left alone has no target.
  io::TokenData longer;
  ASSERT_EQ(longer.open(folder / "o.bin", io::TokenType::automatic, 15, 700, 0).message(), "");
  EXPECT_EQ(longer.windowCount(), 1);
  RunResult result = runShell(std::string(PAR_DATA) + " --tokenizer " + (folder / "model") + " -o " +
                              (folder / "o.bin") + " --pack none " + (folder / "in.jsonl"));
  EXPECT_NE(result.output.find("--pack belongs to --chat"), std::string::npos) << result.output;
}

/// What tells data of ranks apart sees rows, too.
TEST_F(Rows, DamagedFilesAreNamedAndRowsAreInTheHash) {
  ASSERT_EQ(parData(lines, "--pack none").exitCode, 0);
  std::filesystem::remove(folder / "o.bin.json");
  std::string bytes = readText(folder / "o.bin"), other = bytes;
  auto summary = [&](const std::string &content) {
    writeText(folder / "o.bin", content);
    io::TokenData data;
    EXPECT_EQ(data.open(folder / "o.bin", io::TokenType::automatic, 6, 700, 0).message(), "");
    return data.summary();
  };
  other[16 + 4 * 9 + 3] ^= char(io::rowBit >> 24);
  EXPECT_NE(summary(bytes), summary(other));
  writeText(folder / "o.bin", bytes.substr(0, bytes.size() - 2));
  io::TokenData data;
  EXPECT_NE(data.open(folder / "o.bin", io::TokenType::automatic, 6, 700, 0)
                .message()
                .find("its header says 17 tokens"),
            std::string::npos);
}

/// Nothing that a run trains or evaluates may be without a target.
TEST_F(Rows, RunsWithoutATargetAreRefused) {
  nlohmann::json manifest = tinyManifest(2, 1);
  addEvaluation(manifest);
  writePackage(folder / "a.par", manifest);
  auto file = [&](const std::string &name, size_t count, auto isTarget) {
    uint64_t tokens = count;
    Ids ids;
    for (uint32_t i = 0; i < count; ++i)
      ids.push_back(i * i % TINY_VOCAB | (isTarget(i) ? 0 : io::maskedBit));
    std::string bytes(io::maskedMagic, 8);
    bytes.append(reinterpret_cast<const char *>(&tokens), 8);
    writeText(folder / name, bytes.append(reinterpret_cast<const char *>(ids.data()), 4 * ids.size()));
  };
  size_t window = TINY_SEQ + 1;
  file("none.bin", 20 * window, [](uint32_t) { return false; });
  file("firsts.bin", 20 * window,
       [&](uint32_t i) { return i % window == 0; }); // no window predicts its first token
  file("late.bin", 20 * window, [&](uint32_t i) { return i >= 10 * window; });
  file("short.bin", 3, [&](uint32_t) { return true; });
  std::string run = (folder / "a.par") + " --steps 1 --data ";
  auto expect = [&](const std::string &arguments, const std::string &part) {
    RunResult result = parRun(run + arguments);
    EXPECT_EQ(result.exitCode, 1) << arguments;
    EXPECT_NE(result.output.find("error: " + part), std::string::npos) << result.output << part;
  };
  expect(folder / "none.bin", (folder / "none.bin") + ": no token is a target of the");
  expect((folder / "none.bin") + " --epochs 1", "");
  expect((folder / "firsts.bin"), (folder / "firsts.bin") + ": no token is a target");
  expect((folder / "late.bin"), (folder / "late.bin") + ": no token is a target of the");
  expect((folder / "short.bin") + " --eval-data " + (folder / "none.bin"),
         "--eval-data " + (folder / "none.bin") + ": no token is a target (all are masked");
  RunResult result = parRun(run + (folder / "short.bin") + " --eval-data " + (folder / "short.bin") +
                            " --metrics " + (folder / "m"));
  EXPECT_EQ(result.exitCode, 0) << result.output;
  EXPECT_EQ(metricsOf(folder / "m").back()["eval_tokens"], 2);
}
