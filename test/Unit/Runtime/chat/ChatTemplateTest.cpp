// Chat templates write what Jinja writes under Hugging Face's settings (test/Golden/chat), or are refused.
#include "chat/ChatTemplate.h"
#include "TinyPackage.h"

#include <gtest/gtest.h>

using namespace par;
using namespace par::test;
using chat::ChatTemplate;
using chat::Json;

namespace {

class ChatTemplates : public testing::Test {
protected:
  /// Of a folder with these files.
  std::string write(const Json &files, const Json &messages, const Json &tools, bool asks,
                    io::Status &status) {
    for (const auto &[name, content] : files.items())
      writeText(folder / name, content.is_string() ? content.get<std::string>() : content.dump());
    ChatTemplate whole;
    chat::Messages all;
    all.list = messages, all.tools = tools;
    chat::Written written;
    status = whole.open(folder / "");
    if (status.ok())
      status = whole.write(all, asks, written);
    return written.text;
  }
  std::string write(const Json &config, io::Status &status) {
    return write({{"tokenizer_config.json", config}}, Json::array({{{"role", "user"}, {"content", "x"}}}),
                 nullptr, false, status);
  }
  std::string problem(const Json &config) {
    io::Status status;
    write(config, status);
    return status.message();
  }

  TemporaryFolder folder;
};

} // namespace

TEST_F(ChatTemplates, WriteWhatJinjaWrites) {
  Json cases = Json::parse(readText(PAR_TEST_DIR "/Golden/chat/cases.json"));
  ASSERT_GT(cases.size(), 150u);
  for (const Json &one : cases) {
    Json config = {
        {"bos_token", "<s>"}, {"eos_token", {{"content", "</s>"}}}, {"chat_template", one["template"]}};
    io::Status status;
    std::string text =
        write({{"tokenizer_config.json", config}}, one["messages"], one["tools"], one["asks"], status);
    std::string what =
        one["kind"].get<std::string>() + ": " + one["template"].get<std::string>() + "\n" + status.message();
    EXPECT_EQ(status.ok(), one.contains("text")) << what;
    if (one.contains("text") && status.ok())
      EXPECT_EQ(text, one["text"].get<std::string>()) << what;
  }
}

TEST_F(ChatTemplates, AFileOfItsOwnCountsMoreAndOneOfSeveralIsTheDefault) {
  io::Status status;
  EXPECT_EQ(write({{"chat_template", Json::array({{{"name", "tool_use"}, {"template", "t"}},
                                                  {{"name", "default"}, {"template", "d"}}})}},
                  status),
            "d");
  EXPECT_NE(
      problem({{"chat_template", Json::array({{{"name", "tool_use"}, {"template", "t"}}})}}).find("default"),
      std::string::npos);
  EXPECT_NE(problem({{"chat_template", 5}}).find("chat_template is neither a template nor"),
            std::string::npos);
  writeText(folder / "chat_template.jinja", "file {{ messages[0].content }}\n");
  EXPECT_EQ(write({{"chat_template", "config"}}, status), "file x");
}

TEST_F(ChatTemplates, TokensComeFromTheFilesOrAreNotGuessed) {
  io::Status status;
  writeText(folder / "special_tokens_map.json", R"({"bos_token": {"content": "<a>"}, "eos_token": "<b>"})");
  EXPECT_EQ(write({{"eos_token", "<c>"}, {"chat_template", "{{ bos_token }}{{ eos_token }}"}}, status),
            "<a><c>");
  EXPECT_EQ(write({{"bos_token", nullptr}, {"chat_template", "x{{ bos_token }}{{ bos_token is defined }}"}},
                  status),
            "xFalse");
  EXPECT_NE(problem({{"chat_template", "\n{{ unk_token }}"}})
                .find("tokenizer_config.json: chat_template: line 2: unk_token is named neither by"),
            std::string::npos);
}

TEST_F(ChatTemplates, WhatIsWrongIsSaidWithItsLine) {
  auto expect = [&](const std::string &source, const std::string &part) {
    std::string message = problem({{"chat_template", source}});
    EXPECT_NE(message.find("chat_template: " + part), std::string::npos) << message;
  };
  expect("a\n{% include 'b' %}", "line 2: {% include %} is not among what par evaluates");
  expect("{{ raise_exception('Only two roles.') }}", "line 1: it refuses this conversation: Only two roles.");
  expect("{{ messages | groupby('role') }}", "line 1: the filter groupby is not among what par evaluates");
  expect("{% if true %}", "line 1: endif is missing");
  expect("{% endfor %}", "line 1: {% endfor %} is not among");
  expect("\n\n{{ 'a", "line 3: a text is not closed by its quote");
  expect("{{ " + std::string(400, '(') + "1 }}", "line 1: more than 100 levels of nesting");
  std::string sum = "1";
  for (int i = 0; i < 600; ++i)
    sum += " + 1";
  expect("{{ " + sum + " }}", "line 1: an expression of more than 500 levels");
  expect("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
         "line 1: macros that call each other more");
  expect("{% macro f() %}\n{{ messages }}{% endmacro %}{{ f() }}{% set messages = [] %}",
         "line 2: a macro reads messages before it is set");
  expect("{{ 'a'.upper ~ 'b' }}", "line 1: the attribute upper is used as a value");
  expect("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
         "line 1: it takes more than");
  expect("{% set ns = namespace(x='ab') %}{% for a in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
         "line 1: a text of more than 64 MiB");
}

TEST_F(ChatTemplates, ListsHaveALimitWhateverMakesThem) {
  auto expect = [&](const std::string &doubled, const std::string &first = "[1]") {
    std::string message = problem(
        {{"chat_template", "{% set ns = namespace(x=" + first + ") %}{% for a in range(60) %}{% set ns.x = " +
                               doubled + " %}{% endfor %}{{ ns.x }}"}});
    EXPECT_NE(message.find("line 1: a list "), std::string::npos) << doubled << ": " << message;
  };
  expect("ns.x + ns.x");
  expect("[ns.x, ns.x]");
  expect("{'a': ns.x, 'b': ns.x}");
  expect("dict(a=ns.x, b=ns.x)");
  expect("[ns, ns]");
  expect("[[[[[[[[[[ns.x]]]]]]]]]]");
  expect("(ns.x ~ ns.x) | list", "'ab'");
  expect("[ns.x, ns.x, ns.x]", "'" + std::string(1000, 'x') + "'");
}

TEST_F(ChatTemplates, TodayIsWritten) {
  io::Status status;
  std::string text = write({{"chat_template", "{{ strftime_now('%Y') }}"}}, status);
  EXPECT_EQ(text.size(), 4u);
  EXPECT_GE(std::stoi(text), 2024);
}
