// What lines of conversations say beside role and content: it is honoured or refused, never dropped. Lines of
// ShareGPT and Alpaca.
#include "ChatData.h"

using namespace par::test;

namespace {

const std::string question = R"({"role": "user", "content": "Q"})";

/// A line of a question and an answer that has these keys, and the line these.
std::string lineWith(const std::string &keys, const std::string &ofLine = "") {
  return R"({"messages": [)" + question + R"(, {"role": "assistant", )" + keys + "}]" + ofLine + "}\n";
}

/// Qwen's, shortened: texts, calls of tools, reasoning of the last message, a setting.
const std::string calls =
    "{% for m in messages %}{{'<|im_start|>' + m.role + '\n'}}{% if m.reasoning_content %}<r>{{ "
    "m.reasoning_content }}"
    "</r>{% endif %}{% if m.content %}{{ m.content }}{% endif %}{% if m.tool_calls %}{% for c in "
    "m.tool_calls %}"
    "{{ '<tool_call>' + (c.function | tojson) + '</tool_call>' }}{% endfor %}{% endif %}{{ '<|im_end|>\n' "
    "}}{% endfor %}"
    "{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% if shout %}!{% endif %}{% endif %}";

class ChatKeys : public ChatData {};

} // namespace

/// OpenAI's and Mistral's `weight`, and the names that others have for it.
TEST_F(ChatKeys, SayWhatIsATarget) {
  auto targets = [&](const std::string &key) {
    return targetsOf(
        R"({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "x", )" + key +
        R"(}, {"role": "user", "content": "R"}, {"role": "assistant", "content": "y"}]})");
  };
  for (const char *key : {"\"weight\": 0", "\"train\": false", "\"trainable\": false", "\"loss_mask\": 0",
                          "\"masked\": true", "\"weight\": 0.0", "\"train\": 0, \"masked\": 1"})
    EXPECT_EQ(targets(key), "|y<|im_end|>\n") << key;
  for (const char *key : {"\"weight\": 1", "\"train\": true", "\"trainable\": true", "\"loss_mask\": true",
                          "\"masked\": false", "\"weight\": null", "\"weight\": 1, \"train\": true"})
    EXPECT_EQ(targets(key), "|x<|im_end|>\n|y<|im_end|>\n") << key;
  EXPECT_EQ(targetsOf(R"({"messages": [{"role": "user", "content": "Q", "train": true}]})"),
            "|Q<|im_end|>\n");
  EXPECT_NE(parData(R"({"messages": [{"role": "user", "content": "Q", "train": true}]})")
                .output.find("note: of other roles than \"assistant\" messages are targets, too"),
            std::string::npos);
}

TEST_F(ChatKeys, AboutTrainingAreClear) {
  auto expect = [&](const std::string &key, const std::string &part) {
    expectError(lineWith("\"content\": \"x\", " + key), "", "in.jsonl: line 1: message 2 has " + part);
  };
  expect("\"weight\": 0.5", "\"weight\": 0.5, expected 0 or 1: par trains a message or does not");
  expect("\"weight\": true", "\"weight\": true, expected 0 or 1");
  expect("\"train\": \"no\"", "\"train\": \"no\", expected true or false");
  expect("\"loss_mask\": [0, 1]", "\"loss_mask\": [0,1], expected true or false");
  expect("\"weight\": 1, \"train\": false",
         "\"weight\" and \"train\", of which one says that it is trained and one");
  expect("\"trainable\": true, \"masked\": true", "\"trainable\" and \"masked\", of which one");
}

TEST_F(ChatKeys, ThatParDoesNotKnowAreRefused) {
  expectError(
      "\n" + lineWith("\"content\": \"x\"", ", \"id\": 5"), "",
      "in.jsonl: line 2: has the key \"id\", which par does not know; take it out, or leave it out by "
      "--ignore-key id");
  expectError(R"({"prompt": "a", "completion": "b", "source": "web"})", "",
              "line 1: has the key \"source\", which");
  expectError(lineWith("\"content\": \"x\", \"mood\": \"glad\""), "",
              "line 1: message 2 has \"mood\", which no --turn can write; take it out, or leave it out by "
              "--ignore-key");
  EXPECT_EQ(targetsOf(lineWith("\"content\": \"x\", \"mood\": \"glad\"", ", \"id\": 5"),
                      "--ignore-key mood --ignore-key id"),
            "|x<|im_end|>\n");
  // Tables of data fill rows up with null.
  EXPECT_EQ(targetsOf(lineWith("\"content\": \"x\", \"mood\": null, \"tool_calls\": null", ", \"id\": null")),
            "|x<|im_end|>\n");
  RunResult result = parData(lineWith("\"content\": \"x\", \"_n\": 1", ", \"a.b\": 5"));
  EXPECT_EQ(result.exitCode, 0) << result.output;
  EXPECT_NE(result.output.find("note: ignored are keys that begin with '_' or hold a dot: \"_n\", \"a.b\""),
            std::string::npos)
      << result.output;
}

TEST_F(ChatKeys, WithoutATemplateWhatTurnsCannotWriteIsNamed) {
  for (const char *key : {"\"reasoning_content\": \"r\"", "\"function_call\": {\"name\": \"f\"}",
                          "\"tool_calls\": [{\"function\": {\"name\": \"f\"}}]", "\"name\": \"Bo\"",
                          "\"tool_call_id\": \"1\"", "\"thinking\": \"r\""}) {
    std::string name = std::string(key).substr(0, std::string(key).find(':'));
    expectError(lineWith(std::string("\"content\": \"x\", ") + key), "",
                "line 1: message 2 has " + name + ", which no --turn can write; take it out");
  }
  expectError(lineWith("\"content\": \"x\"", ", \"tools\": [{\"name\": \"f\"}]"), "",
              "line 1: has \"tools\", which no --turn can write");
  expectError(lineWith("\"content\": \"x\"", ", \"chat_template_kwargs\": {\"a\": 1}"), "",
              "line 1: has \"chat_template_kwargs\", which no --turn can write");
  expectError(lineWith("\"content\": [{\"type\": \"text\", \"text\": \"x\"}]"), "",
              "line 1: message 2 has a list of parts as \"content\", which no --turn can write; make one "
              "text of them");
  expectError(lineWith("\"content\": null"), "", "message 2 has null as \"content\" and no \"tool_calls\"");
  expectError(lineWith("\"content\": 5"), "",
              "message 2 has a \"content\" that is a JSON number, expected a text");
  expectError(lineWith("\"text\": \"x\""), "", "message 2 has no \"content\"");
  expectError(R"({"messages": ["x"]})", "", "message 1 is no object");
  expectError(R"({"messages": [{"content": "x"}]})", "", "message 1 has no string \"role\"");
}

/// In data with calls of tools there is no text beside them.
TEST_F(ChatKeys, ATemplateReadsWhatItIsMadeFor) {
  setTemplate(calls);
  std::string call = "{\"function\": {\"name\": \"f\", \"arguments\": {\"a\": 1}}}";
  for (const std::string content : {"\"content\": null, ", "\"content\": \"\", ", ""})
    EXPECT_EQ(targetsOf(lineWith(content + "\"tool_calls\": [" + call + "]")),
              "|<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call><|im_end|>\n")
        << content;
  EXPECT_EQ(targetsOf(lineWith(
                "\"content\": \"x\", \"reasoning_content\": \"r\", \"weight\": 1, \"tool_call_id\": \"5\"")),
            "|<r>r</r>x<|im_end|>\n");
  // `shout` changes the prompt only, so that the answer is found by other words.
  EXPECT_EQ(targetsOf(lineWith("\"content\": \"x\"", ", \"chat_template_kwargs\": {\"shout\": true}")),
            "|x<|im_end|>\n");
  expectError(lineWith("\"content\": \"x\"", ", \"chat_template_kwargs\": {\"whisper\": true}"), "",
              "line 1: \"chat_template_kwargs\" has \"whisper\", which " + (folder / "model") +
                  "/chat_template.jinja does not read, so that it would be lost; take it out");
  expectError(lineWith("\"content\": \"x\"", ", \"chat_template_kwargs\": {\"messages\": []}"), "",
              "\"chat_template_kwargs\" has \"messages\", which par gives the template itself");
  expectError(lineWith("\"content\": \"x\", \"function_call\": {\"name\": \"f\", \"arguments\": \"{}\"}"), "",
              "line 1: message 2 has \"function_call\", which");
  expectError(lineWith("\"content\": \"x\"", ", \"tools\": [{\"name\": \"f\"}]"), "",
              "line 1: the line has \"tools\"");
  expectError(lineWith("\"content\": \"x\"", ", \"tools\": \"[]\""), "",
              "line 1: has \"tools\" that are no list");
  setTemplate("{% for m in messages %}{{ m | tojson }}<|im_end|>{% endfor %}"); // reads all that there is
  EXPECT_EQ(written().first, "no file");
  RunResult result = parData(lineWith("\"content\": \"x\", \"mood\": \"glad\", \"weight\": 1"));
  EXPECT_EQ(result.exitCode, 0) << result.output;
  EXPECT_NE(written().second.find("\"mood\": \"glad\"}"), std::string::npos) << written().second;
}

TEST_F(ChatKeys, PartsAreTexts) {
  std::string parts =
      "\"content\": [{\"type\": \"text\", \"text\": \"x\"}, {\"type\": \"text\", \"text\": \"y\"}]";
  setTemplate(calls);
  expectError(lineWith(parts), "", "takes no list of parts: it prints that of message 2 with its brackets");
  setTemplate(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}"
      "{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  EXPECT_EQ(targetsOf(lineWith(parts)), "|xy<|im_end|>\n");
  expectError(lineWith("\"content\": [{\"type\": \"image\", \"url\": \"x\"}]"), "",
              "message 2 has a \"content\" whose part 1 is of the type \"image\", but par reads texts alone");
  expectError(lineWith("\"content\": [{\"type\": \"text\"}]"), "", "part 1 has no string \"text\"");
}

TEST_F(ChatKeys, LinesOfShareGptAndAlpaca) {
  std::string share = R"({"conversations": [{"from": "human", "value": "Q"}, {"from": "gpt", "value": "x"},
    {"from": "human", "value": "R"}, {"from": "gpt", "value": "y", "weight": 0}], "system": "S"})";
  share.erase(std::remove(share.begin(), share.end(), '\n'), share.end());
  EXPECT_EQ(targetsOf(share, "--lines sharegpt"), "|x<|im_end|>\n");
  EXPECT_EQ(written().second,
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nx"
            "<|im_end|>\n<|im_start|>user\nR<|im_end|>\n<|im_start|>assistant\ny<|im_end|>\n");
  std::string alpaca = R"({"instruction": "I", "input": "J", "output": "x"})"
                       "\n"
                       R"({"instruction": "K", "input": "", "output": "y"})";
  EXPECT_EQ(targetsOf(alpaca, "--lines alpaca"), "|x<|im_end|>\n|y<|im_end|>\n");
  EXPECT_EQ(written().second,
            "<|im_start|>user\nI\n\nJ<|im_end|>\n<|im_start|>assistant\nx<|im_end|>\n<|im_start|>user\n"
            "K<|im_end|>\n<|im_start|>assistant\ny<|im_end|>\n");
  expectError(share, "",
              "line 1: has neither \"messages\" nor strings \"prompt\" and \"completion\"; of ShareGPT's "
              "\"conversations\" say so by --lines sharegpt");
  expectError(alpaca, "", "of Alpaca's \"instruction\" and \"output\" say so by --lines alpaca");
  expectError(alpaca, "--lines sharegpt", "line 1: has no list \"conversations\", as --lines sharegpt says");
  expectError(share, "--lines alpaca",
              "line 1: has no strings \"instruction\" and \"output\", as --lines alpaca says");
  expectError(R"({"conversations": [{"from": "narrator", "value": "Q"}]})", "--lines sharegpt",
              "line 1: message 1 is from \"narrator\", of which par does not know the role");
  expectError(R"({"conversations": [{"from": "gpt", "text": "Q"}]})", "--lines sharegpt",
              "message 1 has no strings \"from\" and \"value\"");
  expectError(R"({"conversations": [], "id": "7"})", "--lines sharegpt", "has the key \"id\"");
  expectError(R"({"instruction": "I", "output": "x", "history": []})", "--lines alpaca",
              "has the key \"history\"");
}

/// The usual cause is a role's name.
TEST_F(ChatKeys, DataWithoutATargetAreRefusedWithTheRolesThatWereSeen) {
  expectError(R"({"messages": [{"role": "user", "content": "Q"}, {"role": "gpt", "content": "x"}]})", "",
              "in.jsonl: no token is a target of training: what \"assistant\" says is one, and messages have "
              "the roles "
              "\"gpt\", \"user\" alone; rename the role");
  expectError(lineWith("\"content\": \"x\", \"weight\": 0"), "",
              "messages have the roles \"assistant\", \"user\", but all that the assistant says is empty, or "
              "not to be");
  expectError(R"({"prompt": "a", "completion": ""})", "",
              "no token is a target of training: every completion is empty");
}

/// A model of answers that nothing ends never stops.
TEST_F(ChatKeys, AnswersWithoutAnEndAreTold) {
  const std::string note = "note: no answer ends in an end token, so that a model does not learn to stop";
  auto says = [&](const std::string &flags, const std::string &line = "") {
    RunResult result = parData(line.empty() ? lineWith("\"content\": \"x\"") : line, flags);
    EXPECT_EQ(result.exitCode, 0) << result.output;
    return result.output.find(note) != std::string::npos;
  };
  EXPECT_FALSE(says(""));
  EXPECT_TRUE(says("--turn '*={role}: {content}\\n\\n'"));
  EXPECT_FALSE(says("--turn '*={role}: {content}\\n\\n' --append-eos"));
  EXPECT_FALSE(says("--turn '*={role}: {content}<|endoftext|>\\n'"));
  EXPECT_TRUE(says("", R"({"prompt": "a", "completion": "b"})"));
  EXPECT_FALSE(says("--append-eos", R"({"prompt": "a", "completion": "b"})"));
  EXPECT_FALSE(says("", R"({"prompt": "a", "completion": "b<|endoftext|>"})"));
}

/// Nobody knows which of them counts.
TEST_F(ChatKeys, NamesGivenTwiceAreRefused) {
  expectError(lineWith("\"content\": \"x\", \"weight\": 0, \"weight\": 1"), "",
              "line 1: has \"weight\" twice in one object, which leaves open what counts; take one out");
  expectError(lineWith("\"content\": \"x\", \"content\": \"y\""), "", "line 1: has \"content\" twice");
  expectError(lineWith("\"content\": \"x\"", ", \"messages\": []"), "", "line 1: has \"messages\" twice");
}

/// Tables of mixed data fill rows up with null, and Transformers gives templates no such keys.
TEST_F(ChatKeys, WithNullAreAsGoodAsNone) {
  EXPECT_EQ(targetsOf(R"({"messages": null, "prompt": "x", "completion": "y"})"), "|y");
  EXPECT_EQ(targetsOf(lineWith("\"content\": \"x\"", ", \"prompt\": null, \"completion\": null")),
            "|x<|im_end|>\n");
  setTemplate("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% if 'tool_calls' in m %}"
              "<calls>{% endif %}{% if m.name is defined %}[{{ m.name }}]{% endif %}<|im_end|>\n{% endfor %}"
              "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  EXPECT_EQ(targetsOf(lineWith("\"content\": \"x\", \"name\": null, \"tool_calls\": null")),
            "|x<|im_end|>\n");
  EXPECT_EQ(targetsOf(lineWith("\"content\": null, \"tool_calls\": [{\"function\": {\"name\": \"f\"}}]"))
                .find("None"),
            std::string::npos);
}

/// Another tool's note begins with '_' or holds a dot; what it says of training is no note.
TEST_F(ChatKeys, AboutTrainingAreNoNotes) {
  for (const char *key : {"_weight", "_train", "train.loss", "loss.mask", "_loss_mask", "_Masked"})
    expectError(lineWith(std::string("\"content\": \"x\", \"") + key + "\": 0"), "",
                "line 1: message 2 has \"" + std::string(key) + "\", which no --turn can write");
}

TEST_F(ChatKeys, WhatALineSaysCannotBeIgnored) {
  for (const char *key : {"content", "role", "messages", "prompt", "value"})
    expectError(lineWith("\"content\": \"x\""), std::string("--ignore-key ") + key,
                "--ignore-key is '" + std::string(key) + "', expected a key beside what a line says");
}

TEST_F(ChatKeys, OfShareGptSayNoOtherTurn) {
  auto turn = [](const std::string &keys) {
    return R"({"conversations": [{"from": "human", "value": "Q"}, {"from": "gpt", "value": "x", )" + keys +
           "}]}";
  };
  expectError(turn("\"content\": \"y\""), "--lines sharegpt",
              "line 1: message 2 has \"content\" beside \"from\" and \"value\"; leave it out");
  expectError(turn("\"role\": \"user\""), "--lines sharegpt", "message 2 has \"role\" beside");
  expectError(R"({"conversations": [{"from": "system", "value": "T"}], "system": "S"})", "--lines sharegpt",
              "line 1: has \"system\", and message 1 is from system, too; leave one of them out");
}

/// A word that stands elsewhere in the template reads no key of a message, and no setting.
TEST_F(ChatKeys, ATemplateReadsByItsOwnNames) {
  setTemplate(calls);
  for (const char *key : {"messages", "add_generation_prompt", "m", "shout", "tojson"})
    expectError(lineWith("\"content\": \"x\", \"" + std::string(key) + "\": \"lost\""), "",
                "message 2 has \"" + std::string(key) + "\", which");
  for (const char *key : {"m", "c", "content", "role", "loop"})
    expectError(
        lineWith("\"content\": \"x\"", ", \"chat_template_kwargs\": {\"" + std::string(key) + "\": 5}"), "",
        "\"chat_template_kwargs\" has \"" + std::string(key) + "\", which");
}

/// A template of lists alone, and one that leaves a message out.
TEST_F(ChatKeys, ContentsThatATemplateDoesNotWriteAreRefused) {
  setTemplate("{% for m in messages %}<|im_start|>{{ m.role }}\n{% for p in m.content %}{{ p.text }}"
              "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
              "{% endif %}");
  std::string parts = "\"content\": [{\"type\": \"text\", \"text\": \"xyz\"}]";
  expectError(lineWith(parts), "", "does not write what message 1 says");
  std::string asked = R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "Q"}]}, )";
  EXPECT_EQ(targetsOf(asked + R"({"role": "assistant", )" + parts + "}]}"), "|xyz<|im_end|>\n");
  expectError(asked + R"({"role": "assistant", "content": "General answer"}]})", "",
              "does not write what message 2 says");
  expectError(asked + R"({"role": "assistant", "content": ["General answer"]}]})", "",
              "does not write what message 2 says");
  setTemplate("{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}"
              "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  EXPECT_EQ(targetsOf(lineWith("\"content\": \" x \"")), "|x<|im_end|>\n");
  expectError(
      R"({"messages": [{"role": "system", "content": "Be kind"}, {"role": "assistant", "content": "x"}]})",
      "", "does not write what message 1 says");
}

/// Found by fuzzing: such a number ended par-data.
TEST_F(ChatKeys, NumbersBeyond64BitsAreRefused) {
  for (const std::string ending : {"}", ""})
    expectError(R"({"messages": [], "n": 2e308)" + ending, "",
                "line 1: is no JSON object that par reads: a number");
}
