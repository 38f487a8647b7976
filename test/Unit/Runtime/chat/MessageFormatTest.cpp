// What a model is asked in a conversation, and what it is to write around its answer.
#include "chat/MessageFormat.h"
#include "TinyPackage.h"
#include "chat/ConversationJson.h"

#include <gtest/gtest.h>

using namespace par;
using namespace par::test;
using chat::Json;
using chat::MessageFormat;

namespace {

class MessageFormats : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(tokenizer.open(PAR_TEST_DIR "/Golden/tokenizer/gpt2.json").ok()); }
  MessageFormat byTurns(const std::vector<std::string> &given) {
    chat::TurnFormat turns;
    for (const std::string &turn : given)
      EXPECT_EQ(turns.add(turn), "");
    MessageFormat format;
    EXPECT_EQ(format.open(turns, folder / "", tokenizer).message(), "");
    return format;
  }
  MessageFormat byTemplate(const std::string &source) {
    writeText(folder / "tokenizer_config.json",
              Json({{"eos_token", "<|endoftext|>"}, {"chat_template", source}}).dump());
    MessageFormat format;
    EXPECT_EQ(format.open({}, folder / "", tokenizer).message(), "");
    return format;
  }
  std::string ask(const MessageFormat &format) {
    std::string text;
    EXPECT_EQ(format.ask(all(), text).message(), "");
    return text;
  }

  chat::Messages all() {
    chat::Messages read;
    chat::LeftOut leftOut;
    EXPECT_EQ(chat::readMessages({{"messages", messages}, {"tools", tools}}, leftOut, read).message(), "");
    return read;
  }
  std::string problem(const MessageFormat &format) { return format.check(all(), {}).message(); }

  TemporaryFolder folder;
  text::Tokenizer tokenizer;
  Json tools;
  Json messages = Json::array({{{"role", "user"}, {"content", "a"}},
                               {{"role", "assistant"}, {"content", "b"}},
                               {{"role", "user"}, {"content", "c"}}});
};

} // namespace

TEST_F(MessageFormats, TurnsAskUpToTheAnswersContent) {
  MessageFormat format = byTurns({"*=[{role}] {content}\n", "assistant=Answer:  {content}\n\n"});
  // The spaces belong to the first token of an answer, as in training.
  EXPECT_EQ(ask(format), "[user] a\nAnswer:  b\n\n[user] c\nAnswer:");
  EXPECT_EQ(format.answerFrame().blanks, 2u);
  EXPECT_EQ(format.answerFrame().behind, "\n\n");
  EXPECT_EQ(byTurns({"*={content}"}).answerFrame().behind, "");
  std::string text;
  EXPECT_EQ(byTurns({"user={content}", "assistant={content}"}).ask(all(), text).message(), "");
  messages.erase(1);
  EXPECT_EQ(byTurns({"user={content}"}).ask(all(), text).message(),
            "no --turn says how the role \"assistant\" is written");
}

TEST_F(MessageFormats, TemplatesAskAsTheyDo) {
  MessageFormat format = byTemplate(
      "{% for m in messages %}{% if m.role == 'user' %}[{{ m.content }}]{% else %}A:  {{ m.content | trim }} "
      "{{ eos_token }}\n{% endif %}{% endfor %}{% if add_generation_prompt %}A:{% endif %}");
  EXPECT_EQ(ask(format), "[a]A:  b <|endoftext|>\n[c]A:");
  EXPECT_EQ(format.answerFrame().blanks, 2u);
  EXPECT_EQ(format.answerFrame().behind, " <|endoftext|>\n");
  EXPECT_EQ(tokenizer.findAdded(format.answerFrame().behind), tokenizer.find("<|endoftext|>"));
  EXPECT_EQ(tokenizer.findAdded("\n\n"), -1);
}

TEST_F(MessageFormats, ATemplateMayNotTellWhatIsAroundAnswers) {
  EXPECT_EQ(byTemplate("{% for m in messages %}{{ m.role }}{% endfor %}").answerFrame().behind, "");
  EXPECT_EQ(byTemplate("{{ raise_exception('no') }}").answerFrame().behind, "");
  // What is not asked for is no space before the answer.
  EXPECT_EQ(
      byTemplate("{% for m in messages %}{{ m.role ~ ' ' ~ m.content }}{% endfor %}").answerFrame().blanks,
      0u);
}

TEST_F(MessageFormats, WhatNoTurnWritesIsRefused) {
  MessageFormat format = byTurns({"*={content}"});
  EXPECT_EQ(problem(format), "");
  tools = Json::array({1});
  EXPECT_NE(problem(format).find("has \"tools\""), std::string::npos);
  tools = nullptr;
  messages[1]["tool_calls"] = Json::array();
  EXPECT_NE(problem(format).find("message 2 has \"tool_calls\""), std::string::npos);
  messages[0].erase("content");
  chat::Messages read;
  chat::LeftOut leftOut;
  EXPECT_EQ(chat::readMessages({{"messages", messages}}, leftOut, read).message(),
            "message 1 has no \"content\"");
  EXPECT_EQ(chat::readMessages({{"messages", 5}}, leftOut, read).message(), "\"messages\" is no list");
}

TEST(ConversationJson, NestsWithinReason) {
  auto read = [](size_t levels, Json &json) {
    return chat::readJson("{\"a\":" + std::string(levels, '[') + std::string(levels, ']') + ",\"b\":1}",
                          json);
  };
  Json json;
  EXPECT_TRUE(read(150, json).ok());
  EXPECT_EQ(json["b"], 1);
  EXPECT_EQ(json["a"].size(), 1u);
  EXPECT_EQ(read(100000, json).message(), "has more than 200 levels of nesting");
  EXPECT_TRUE(chat::readJson("{\"a\":", json).ok());
  EXPECT_TRUE(json.is_discarded());
}
