// Where answers are in what a template writes: its {% generation %} marks say it, else how its text changes
// with other words. What the marks of the first case give was read off Transformers
// (return_assistant_tokens_mask).
#include "ChatData.h"

using namespace par::test;

namespace {

std::string lineOf(const std::string &answer, const std::string &second, const std::string &keys = "") {
  return R"({"messages": [{"role": "user", "content": "Who makes laws?"}, {"role": "assistant", "content": ")" +
         answer + "\"" + keys +
         R"(}, {"role": "user", "content": "Why?"}, {"role": "assistant", "content": ")" + second + "\"}]}\n";
}
const std::string twoTurns = lineOf("The people.", "They do.");
const std::string oneTurn =
    R"({"messages": [{"role": "user", "content": "Who makes laws?"}, {"role": "assistant", "content": "The people."}]})"
    "\n";

const std::string marked =
    "{% for m in messages %}{% if m.role == 'assistant' %}{{'<|im_start|>assistant\n'}}{% generation %}"
    "{{ m.content + '<|im_end|>\n' }}{% endgeneration %}{% else %}{{'<|im_start|>' + m.role + '\n' + "
    "m.content + "
    "'<|im_end|>\n'}}{% endif %}{% endfor %}{% if add_generation_prompt "
    "%}{{'<|im_start|>assistant\n<think>\n'}}"
    "{% else %}{{ eos_token }}{% endif %}";

/// `head` and `tail` of each assistant's message; `last` behind the last one.
std::string templateOf(const std::string &answer, const std::string &end, const std::string &prompt) {
  return "{% for m in messages %}{% if m.role == 'assistant' %}" + answer +
         "{% else %}<|im_start|>{{ m.role }}\n"
         "{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}{% if add_generation_prompt %}" +
         prompt + "{% else %}" + end + "{% endif %}";
}

class AnswerPlaces : public ChatData {};

} // namespace

TEST_F(AnswerPlaces, MarksOfTheTemplateDecide) {
  setTemplate(marked);
  EXPECT_EQ(targetsOf(oneTurn), "|The people.<|im_end|>\n");
  EXPECT_EQ(targetsOf(twoTurns), "|The people.<|im_end|>\n|They do.<|im_end|>\n");
  EXPECT_EQ(targetsOf(lineOf("a", "They do.", ", \"weight\": 0")), "|They do.<|im_end|>\n");
  EXPECT_EQ(targetsOf(lineOf("", "They do.")), "|<|im_end|>\n|They do.<|im_end|>\n");
  // A mark may hold less than the message, or nothing of it: then that is what is trained.
  setTemplate(
      "{% for m in messages %}{% if m.role == 'assistant' and loop.last %}A: {% generation %}{{ m.content }}"
      "{% endgeneration %}<|im_end|>{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}");
  EXPECT_EQ(targetsOf(twoTurns), "| They do."); // the space is of the answer's first token
  setTemplate("{% macro say(m) %}{% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}"
              "{% for m in messages %}{{ say(m) }}{% endfor %}");
  expectError(twoTurns, "",
              "has {% generation %} in a macro or in {% set %}, so that par cannot tell where it writes");
  setTemplate(
      "{% generation %}{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}{% endgeneration %}");
  expectError(lineOf("a", "b", ", \"train\": false"), "",
              "has one {% generation %} for messages of which one is to be");
}

/// As in Jinja, what is set within a mark is unknown behind it.
/// Whatever a message has of marks goes with it: an empty answer's, one for the end alone, another role's.
TEST_F(AnswerPlaces, AllMarksOfAMessageAreDropped) {
  auto line = [](const std::string &role, const std::string &message) {
    return R"({"messages": [{"role": "user", "content": "Q"}, {"role": ")" + role + R"(", )" + message +
           R"(}, {"role": "user", "content": "R"}, {"role": "assistant", "content": "yes"}]})";
  };
  const std::string yes = "|yes<|im_end|>\n";
  setTemplate(marked);
  EXPECT_EQ(targetsOf(line("assistant", R"("content": "", "weight": 0)")), yes);
  auto ofRole = [](const std::string &condition, const std::string &answer) {
    return "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if " + condition + " %}" + answer +
           "{% else %}{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
           "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  };
  const std::string whole = "{% generation %}{{ m.content | trim + '<|im_end|>\n' }}{% endgeneration %}";
  setTemplate(ofRole("m.role == 'assistant'", whole));
  EXPECT_EQ(targetsOf(line("assistant", R"("content": "  ", "train": false)")), yes);
  setTemplate(ofRole("m.role == 'assistant'", "{% generation %}{{ m.content }}{% endgeneration %}"
                                              "{% generation %}{{ '<|im_end|>\n' }}{% endgeneration %}"));
  EXPECT_EQ(targetsOf(line("assistant", R"("content": "A", "masked": true)")), yes);
  setTemplate(ofRole("m.role in ['assistant', 'model']", whole));
  EXPECT_EQ(targetsOf(line("model", R"("content": "A", "weight": 0)")), yes);
  EXPECT_EQ(targetsOf(line("model", R"("content": "A")")), "|A<|im_end|>\n" + yes);
  EXPECT_EQ(targetsOf(line("model", R"("content": "A", "train": true)")), "|A<|im_end|>\n" + yes);
  // One that writes earlier turns differently: the words of the message tell.
  setTemplate(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
      "{{ m.content }}{% if not loop.last %}!{% endif %}<|im_end|>\n{% endgeneration %}{% else %}"
      "{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  EXPECT_EQ(targetsOf(line("assistant", R"("content": "", "weight": 0)")), yes);
  EXPECT_EQ(targetsOf(line("assistant", R"("content": "A", "weight": 0)")), yes);
}

TEST_F(AnswerPlaces, MarksAreScopes) {
  setTemplate(
      "{% set x = 'a' %}{% for m in messages %}{% generation %}{% set x = 'b' %}{{ x }}{{ m.content }}"
      "{% endgeneration %}{{ x }}<|im_end|>{% endfor %}");
  ASSERT_EQ(parData(oneTurn).exitCode, 0);
  EXPECT_EQ(written().second, "bWho makes laws?a<|im_end|>bThe people.a<|im_end|>");
}

/// Phi 3 writes a token behind the last message alone.
TEST_F(AnswerPlaces, AnEndOfTheConversationIsNoneOfEarlierAnswers) {
  setTemplate(templateOf("<|im_start|>assistant\n{{ m.content }}<|im_end|>\n", "<|endoftext|>",
                         "<|im_start|>assistant\n"));
  EXPECT_EQ(targetsOf(twoTurns), "|The people.<|im_end|>\n|They do.<|im_end|>\n<|endoftext|>");
  EXPECT_EQ(targetsOf(lineOf("They do.", "They do.")),
            "|They do.<|im_end|>\n|They do.<|im_end|>\n<|endoftext|>");
  EXPECT_EQ(targetsOf(lineOf("Why?", "Who makes laws?")),
            "|Why?<|im_end|>\n|Who makes laws?<|im_end|>\n<|endoftext|>");
  EXPECT_EQ(targetsOf(lineOf("", "x")), "|<|im_end|>\n|x<|im_end|>\n<|endoftext|>");
  // Whatever par writes in its place.
  for (const char *words : {"Quite other words", "Quite right words", "just that: Z", "Q", "Zj", "words"})
    EXPECT_EQ(targetsOf(lineOf(words, "x")),
              "|" + std::string(words) + "<|im_end|>\n|x<|im_end|>\n<|endoftext|>");
}

/// Ends of turns that are no tokens of their own.
TEST_F(AnswerPlaces, AnEndThatIsTextReachesToTheNextTurn) {
  setTemplate("{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}{% if "
              "add_generation_prompt %}"
              "<|assistant|>\n{% else %}<|endoftext|>{% endif %}");
  EXPECT_EQ(targetsOf(twoTurns), "|The people.<|end|>\n|They do.<|end|>\n<|endoftext|>");
}

/// DeepSeek R1 asks for thoughts, and writes none of earlier turns.
TEST_F(AnswerPlaces, APromptThatAsksForMoreThanIsWritten) {
  setTemplate(templateOf("<|im_start|>assistant\n{{ m.content.split('</think>')[-1] | trim }}<|im_end|>", "",
                         "<|im_start|>assistant\n<think>\n"));
  EXPECT_EQ(targetsOf(oneTurn), "|The people.<|im_end|>");
  EXPECT_EQ(targetsOf(lineOf("<think>so</think>\\n The people. ", "They do.")),
            "|The people.<|im_end|>|They do.<|im_end|>");
  // Whatever par writes in its place.
  for (const char *words : {"Quite so", "just so", "so, Z", "other words"})
    EXPECT_EQ(targetsOf(lineOf(words, "x")), "|" + std::string(words) + "<|im_end|>|x<|im_end|>");
}

/// Qwen 3 writes reasoning of the last turn only, and none as an empty one.
TEST_F(AnswerPlaces, ReasoningOfTheLastTurn) {
  setTemplate(templateOf(
      "<|im_start|>assistant\n{% if loop.last %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}"
      "{{ m.content }}<|im_end|>\n",
      "", "<|im_start|>assistant\n"));
  EXPECT_EQ(targetsOf(twoTurns), "|The people.<|im_end|>\n|<think>\n\n</think>\n\nThey do.<|im_end|>\n");
  std::string line =
      R"({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "reasoning_content": "because", "content": "x"},
    {"role": "user", "content": "R"}, {"role": "assistant", "reasoning_content": "so", "content": "y"}]})";
  line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
  EXPECT_EQ(targetsOf(line), "|x<|im_end|>\n|<think>\nso\n</think>\n\ny<|im_end|>\n");
}

/// gpt-oss ends earlier answers with another token than the last one.
TEST_F(AnswerPlaces, AnotherEndOfEarlierTurnsIsNoTarget) {
  setTemplate(templateOf(
      "<|im_start|>assistant: {{ m.content }}{% if loop.last %}<|endoftext|>{% else %}<|im_end|>{% endif %}",
      "", "<|im_start|>assistant:"));
  EXPECT_EQ(targetsOf(twoTurns), "| The people.| They do.<|endoftext|>");
}

TEST_F(AnswerPlaces, WhatCannotBeToldIsRefused) {
  auto expect = [&](const std::string &source, const std::string &part) {
    setTemplate(source);
    expectError("\n" + twoTurns, "",
                "in.jsonl: line 2: " + (folder / "model/chat_template.jinja") + ": " + part);
  };
  // A content that is there twice, or changed.
  expect("{% for m in messages %}{{ m.content }}{% if loop.last %}!{% endif %}-{{ m.content }}{% endfor %}",
         "writes what comes before an answer differently once the answer, or more, follows, and what message "
         "2 says "
         "otherwise than it says it, or more than once");
  expect("{% for m in messages %}{{ m.content | upper }}{% if loop.last %}!{% endif %}{% endfor %}",
         "writes what comes before an answer differently once the answer, or more, follows, and what message "
         "2 says "
         "otherwise");
  expect("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% if loop.last %}!{% endif %}{% "
         "endif %}{% endfor %}"
         "{{ messages | length }}",
         "does not write what message 2 says");
}
