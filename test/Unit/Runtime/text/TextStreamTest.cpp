// Text of tokens one by one is UTF-8, and what Hugging Face's library makes of all of them together.
#include "text/TextStream.h"
#include "TinyPackage.h"

#include <gtest/gtest.h>

using namespace par;
using namespace par::text;
using par::test::readText;
using Json = nlohmann::json;
using Ids = std::vector<uint32_t>;

namespace {
std::string golden(const std::string &name) { return std::string(PAR_TEST_DIR "/Golden/tokenizer/") + name; }

/// The text that is shown after each token, and at the end.
std::vector<std::string> shown(const Tokenizer &tokenizer, const Ids &ids) {
  TextStream stream(tokenizer, /*begins=*/true);
  std::vector<std::string> parts;
  for (uint32_t id : ids)
    stream.add(id, parts.emplace_back());
  stream.finish(parts.emplace_back());
  return parts;
}

std::string joined(const std::vector<std::string> &parts) {
  std::string whole;
  for (const std::string &part : parts)
    whole += part;
  return whole;
}

class TextStreams : public testing::TestWithParam<const char *> {};
} // namespace

TEST_P(TextStreams, AnyTokensGiveHuggingFacesText) {
  std::string name = GetParam();
  Tokenizer tokenizer;
  ASSERT_EQ(tokenizer.open(golden(name + ".json")).message(), "");
  Json cases = Json::parse(readText(golden(name + ".decoded.json")));
  ASSERT_GT(cases.size(), 100u);
  for (const Json &one : cases)
    EXPECT_EQ(joined(shown(tokenizer, one[0].get<Ids>())), one[1].get<std::string>()) << one[0];
  for (const Json &one : Json::parse(readText(golden(name + ".ids.json"))))
    EXPECT_EQ(joined(shown(tokenizer, one[1].get<Ids>())), one[one.size() > 2 ? 2 : 0].get<std::string>())
        << one[0];
}

INSTANTIATE_TEST_SUITE_P(Text, TextStreams, testing::Values("gemma", "qwen3", "olmo2", "smollm3", "phi3"),
                         [](const auto &info) { return std::string(info.param); });

TEST(TextStream, CharactersAppearAsSoonAsTheyAreWhole) {
  Tokenizer bytes, marked;
  ASSERT_TRUE(bytes.open(golden("qwen3.json")).ok());
  ASSERT_TRUE(marked.open(golden("gemma.json")).ok());
  using Parts = std::vector<std::string>;
  // U+1F600 has the bytes F0 9F 98 80.
  auto ofBytes = [](const Tokenizer &tokenizer, const std::vector<std::string> &tokens) {
    Ids ids;
    for (const std::string &token : tokens)
      ids.push_back(uint32_t(tokenizer.find(token)));
    return ids;
  };
  Ids smile = ofBytes(marked, {"<0xF0>", "<0x9F>", "<0x98>", "<0x80>"});
  EXPECT_EQ(shown(marked, smile), (Parts{"", "", "", "\U0001F600", ""}));
  smile.pop_back();
  EXPECT_EQ(shown(marked, smile), (Parts{"", "", "", "\uFFFD\uFFFD\uFFFD"}));
  smile.push_back(uint32_t(marked.find("a")));
  EXPECT_EQ(shown(marked, smile), (Parts{"", "", "", "\uFFFD\uFFFD\uFFFDa", ""}));
  // A character that was shown stays; the library, which sees all bytes at once, takes it back.
  EXPECT_EQ(shown(marked, ofBytes(marked, {"<0xC3>", "<0xA9>", "<0x80>", "<0xC3>", "<0xA9>", "a"})),
            (Parts{"", "\u00E9", "\uFFFD", "\uFFFD", "\uFFFD", "a", ""}));
  Ids cut = ofBytes(bytes, {"\u00F0", "\u0141", "\u013A"});
  EXPECT_EQ(shown(bytes, cut), (Parts{"", "", "", "\uFFFD"}));
  cut.push_back(uint32_t(bytes.find("a")));
  EXPECT_EQ(shown(bytes, cut), (Parts{"", "", "", "\uFFFDa", ""}));
  EXPECT_EQ(shown(bytes, {1u << 20}), (Parts{"", ""})); // a place that the model has more than the vocabulary
}

TEST(TextStream, OnlyTheFirstTokenLosesTheFirstSpace) {
  Tokenizer phi;
  ASSERT_TRUE(phi.open(golden("phi3.json")).ok());
  auto word = uint32_t(phi.find("\u2581the"));
  ASSERT_LT(word, phi.size());
  EXPECT_EQ(joined(shown(phi, {phi.size() + 5, word, word})), "the the");
  TextStream later(phi, /*begins=*/false);
  std::string text;
  later.add(word, text);
  EXPECT_EQ(text, " the");
}
