// Templates as those of Gemma 3, Qwen 3, OLMo 2 and 3, SmolLM 3 and Phi 3 write what Transformers writes with
// them, and mark the same answers (test/Golden/chat/make_families.py).
#include "TinyPackage.h"
#include "chat/ChatTemplate.h"
#include "text/Normalizer.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace par;
using namespace par::test;
using chat::Json;

namespace {
/// The library's file has dates as their format between two @.
std::string withToday(const std::string &text) {
  const char *format = "%d %B %Y";
  char today[64] = {};
  std::time_t now = std::time(nullptr);
  std::strftime(today, sizeof(today), format, std::localtime(&now));
  return text::replaceAll(text, "@" + std::string(format) + "@", today);
}

Json spansOf(const std::vector<chat::Span> &answers) {
  Json spans = Json::array();
  for (const chat::Span &answer : answers)
    spans.push_back({answer.begin, answer.end});
  return spans;
}

/// Marks move with dates before them.
Json moved(const Json &spans, const std::string &theirs, const std::string &ours) {
  Json all = spans;
  for (Json &span : all)
    for (Json &place : span)
      place = place.get<size_t>() + ours.size() - theirs.size();
  return all;
}

class FamilyTemplates : public testing::Test {
protected:
  void open(const Json &family, chat::ChatTemplate &whole) {
    writeText(folder / "chat_template.jinja", family["template"].get<std::string>());
    writeText(folder / "tokenizer_config.json", family["tokens"].dump());
    ASSERT_EQ(whole.open(folder / "").message(), "");
  }
  TemporaryFolder folder;
};
} // namespace

TEST_F(FamilyTemplates, WriteWhatTransformersWrites) {
  Json golden = Json::parse(readText(PAR_TEST_DIR "/Golden/chat/families.json"));
  ASSERT_GT(golden["texts"].size(), 250u);
  for (const auto &[name, family] : golden["families"].items()) {
    chat::ChatTemplate whole;
    open(family, whole);
    for (const Json &one : golden["texts"]) {
      if (one[0] != name)
        continue;
      chat::Messages messages;
      messages.list = one[1], messages.tools = one[2], messages.settings = one[3];
      chat::Written written;
      io::Status status = whole.write(messages, one[4], written);
      std::string what = name + ": " + one[1].dump() + one[3].dump() + "\n" + status.message();
      EXPECT_EQ(status.ok(), one[5].is_string()) << what;
      if (!status.ok() || !one[5].is_string())
        continue;
      std::string theirs = one[5], text = withToday(theirs);
      EXPECT_EQ(written.text, text) << what;
      EXPECT_EQ(spansOf(written.answers), moved(one[6], theirs, text)) << what;
    }
  }
}

TEST_F(FamilyTemplates, OfGemma2SayWhyTheyRefuse) {
  chat::ChatTemplate whole;
  open(Json::parse(readText(PAR_TEST_DIR "/Golden/chat/families.json"))["families"]["gemma2"], whole);
  chat::Messages messages;
  messages.list = {{{"role", "system"}, {"content", "s"}}};
  chat::Written written;
  std::string message = whole.write(messages, false, written).message();
  EXPECT_NE(message.find("chat_template.jinja: line 1: it refuses this conversation: No system role"),
            std::string::npos)
      << message;
}

/// Python has all digits of a whole number, of which JSON's reader here keeps the first.
TEST_F(FamilyTemplates, NumbersBeyond64BitsAreRefused) {
  chat::ChatTemplate whole;
  open(Json::parse(readText(PAR_TEST_DIR "/Golden/chat/families.json"))["families"]["qwen3"], whole);
  chat::Messages messages;
  messages.list = Json::array({{{"role", "user"}, {"content", "x"}}});
  chat::Written written;
  for (const char *number : {"123456789012345678901234567890", "1e300", "-1e19"}) {
    messages.tools = Json::parse("[{\"a\": " + std::string(number) + "}]");
    std::string message = whole.write(messages, false, written).message();
    EXPECT_NE(message.find("a number of more than 64 bits is written"), std::string::npos) << message;
  }
  messages.tools = Json::parse(R"([{"a": 18446744073709551615, "b": -9223372036854775808}])");
  EXPECT_EQ(whole.write(messages, false, written).message(), "");
  EXPECT_NE(written.text.find(R"({"a": 18446744073709551615, "b": -9223372036854775808})"), std::string::npos)
      << written.text;
}
