// These are the targets of conversations that Gemma, Qwen 3, OLMo 2 and 3, SmolLM 3 and Phi 3 write: where
// their templates mark answers the masks of Transformers (test/Golden/chat/make_families.py), else what they
// ask for.
#include "ChatData.h"

using namespace par::test;
using Json = nlohmann::ordered_json;

namespace {
class FamilyMasks : public ChatData {
protected:
  void SetUp() override {
    std::filesystem::create_directories(folder / "model");
    families = Json::parse(readText(PAR_TEST_DIR "/Golden/chat/families.json"));
  }
  void open(const Json &family) {
    std::string file = golden + family["tokenizer"].get<std::string>() + ".json";
    writeText(folder / "model/tokenizer.json", readText(file));
    writeText(folder / "model/tokenizer_config.json", family["tokens"].dump());
    setTemplate(family["template"]);
  }
  /// The words of a file of conversations.
  std::vector<uint32_t> words() {
    std::string bytes = readText(folder / "o.bin");
    std::vector<uint32_t> all((bytes.size() - 16) / 4);
    std::memcpy(all.data(), bytes.data() + 16, 4 * all.size());
    return all;
  }
  /// The text of targets, each run of them in brackets.
  std::string targets(const std::string &family, const std::string &line) {
    open(families["families"][family]);
    par::text::Tokenizer own;
    EXPECT_EQ(own.open(folder / "model/tokenizer.json").message(), "");
    RunResult result = parData(line);
    if (result.exitCode)
      return result.output;
    std::string all;
    bool before = false;
    for (uint32_t word : words()) {
      bool isTarget = !(word & par::io::maskedBit);
      all += isTarget == before ? "" : isTarget ? "[" : "]";
      all += isTarget ? std::string(own.bytes(word)) : "";
      before = isTarget;
    }
    return all + (before ? "]" : "");
  }
  Json families;
};
} // namespace

TEST_F(FamilyMasks, OfMarksAreThoseOfTransformers) {
  for (const auto &[name, family] : families["families"].items()) {
    std::string lines, mask;
    std::vector<uint32_t> expected;
    for (const Json &one : families["masks"]) {
      if (one[0] != name)
        continue;
      lines += Json({{"messages", one[1]}}).dump() + "\n";
      std::string letters = one[3];
      for (size_t i = 0; i < letters.size(); ++i)
        expected.push_back(one[2][i].get<uint32_t>() | (letters[i] == '1' ? 0 : par::io::maskedBit));
    }
    if (lines.empty())
      continue;
    open(family);
    RunResult result = parData(lines);
    ASSERT_EQ(result.exitCode, 0) << name << ": " << result.output;
    EXPECT_EQ(words(), expected) << name;
  }
}

TEST_F(FamilyMasks, WithoutMarksReachToWhatEndsAnAnswer) {
  const std::string two =
      R"({"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": " We. "},)"
      R"({"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]})";
  EXPECT_EQ(targets("gemma2", two), "[We.<end_of_turn>\n][So.<end_of_turn>\n]");
  EXPECT_EQ(targets("gemma3", two), "[We.<end_of_turn>\n][So.<end_of_turn>\n]");
  EXPECT_EQ(targets("qwen3", two), "[ We. <|im_end|>\n][<think>\n\n</think>\n\nSo.<|im_end|>\n]");
  EXPECT_EQ(targets("olmo2", two), "[ We. <|endoftext|>][So.<|endoftext|>]");
  EXPECT_EQ(targets("smollm3", two),
            "[<|im_start|>assistant\n We. <|im_end|>\n][<|im_start|>assistant\nSo.<|im_end|>\n]");
  // Blanks behind <|assistant|> are of that token, also those of the answer.
  EXPECT_EQ(targets("phi3", two), "[<|assistant|> We. <|end|>][ So.<|end|><|endoftext|>]");
}

/// Reasoning has three names, of which templates read one.
TEST_F(FamilyMasks, ReasoningMayHaveAnyOfItsNames) {
  auto line = [](const std::string &keys) {
    return R"({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "x", )" +
           keys + "}]}";
  };
  for (const char *name : {"reasoning_content", "thinking", "reasoning"})
    EXPECT_EQ(targets("qwen3", line("\"" + std::string(name) + "\": \"so\"")),
              "[<think>\nso\n</think>\n\nx<|im_end|>\n]")
        << name;
  std::string lost = targets("qwen3", line(R"("reasoning_content": "so", "thinking": "thus")"));
  EXPECT_NE(lost.find("message 2 has \"thinking\", which"), std::string::npos) << lost;
  lost = targets("olmo2", line(R"("thinking": "so")"));
  EXPECT_NE(lost.find("message 2 has \"thinking\", which"), std::string::npos) << lost;
}
