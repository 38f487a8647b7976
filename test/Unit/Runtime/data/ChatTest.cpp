// par-data --chat: conversations become tokens of which only answers are targets, and par-run honours that.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "par/io/MaskedTokens.h"
#include "par/io/TokenData.h"
#include "text/Encoder.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace par;
using namespace par::test;
using Ids = std::vector<uint32_t>;

namespace {

const std::string golden = PAR_TEST_DIR "/Golden/tokenizer/";
const std::string end = "<|endoftext|>";

std::string maskedFile(const Ids &ids) {
  uint64_t count = ids.size();
  std::string bytes(io::maskedMagic, 8);
  bytes.append(reinterpret_cast<const char *>(&count), 8);
  return bytes.append(reinterpret_cast<const char *>(ids.data()), 4 * ids.size());
}

class Chat : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(tokenizer.open(golden + "gpt2.json").ok()); }
  RunResult parData(const std::string &lines, const std::string &flags) {
    writeText(folder / "in.jsonl", lines);
    return runShell(std::string(PAR_DATA) + " --tokenizer " + golden + "gpt2.json -o " + (folder / "o.bin") +
                    " " + flags + " " + (folder / "in.jsonl"));
  }
  /// The text of what is a target, and of all; parts of the former with | between.
  std::pair<std::string, std::string> written() {
    std::string bytes = readText(folder / "o.bin"), all, targets;
    EXPECT_EQ(bytes.substr(0, 8), io::maskedMagic);
    Ids ids((bytes.size() - 16) / 4);
    std::memcpy(ids.data(), bytes.data() + 16, 4 * ids.size());
    bool before = false;
    for (uint32_t id : ids) {
      bool isTarget = !(id & io::maskedBit);
      std::string text(tokenizer.bytes(id & ~io::maskedBit));
      all += text;
      targets += isTarget ? (before ? "" : "|") + text : "";
      before = isTarget;
      plain.push_back(id & ~io::maskedBit);
    }
    return {targets, all};
  }

  TemporaryFolder folder;
  text::Tokenizer tokenizer;
  Ids plain;
};

} // namespace

TEST_F(Chat, AnswersAreTargetsAndIdsAreThoseOfTheWholeText) {
  std::string lines =
      R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "the licensor?"},
    {"role": "assistant", "content": "Yes, the licensor."}, {"role": "user", "content": "and"}, {"role": "assistant", "content": "no"}]})";
  lines.erase(std::remove(lines.begin(), lines.end(), '\n'), lines.end());
  RunResult result = parData(
      lines + "\n\n", "--chat --turn '*=[{role}] {content}\\n' --turn 'assistant=[a] {content}" + end + "'");
  ASSERT_EQ(result.exitCode, 0) << result.output;
  auto [targets, all] = written();
  EXPECT_EQ(all, "[system] Be brief.\n[user] the licensor?\n[a] Yes, the licensor." + end +
                     "[user] and\n[a] no" + end);
  EXPECT_EQ(targets, "|Yes, the licensor." + end + "| no" + end); // " no" is one token, so its space counts
  Ids whole;
  ASSERT_TRUE(text::Encoder(tokenizer).encode(all, whole).ok());
  EXPECT_EQ(plain, whole);
  EXPECT_NE(result.output.find(" of them are targets"), std::string::npos) << result.output;
  result =
      runShell(std::string(PAR_DATA) + " --tokenizer " + golden + "gpt2.json --decode " + (folder / "o.bin"));
  EXPECT_EQ(result.output, all);
}

TEST_F(Chat, PromptsAndCompletions) {
  RunResult result = parData(
      "{\"prompt\": \"Q: x\\nA:\", \"completion\": \" y\"}\n{\"prompt\": \"z\", \"completion\": \"\"}\n",
      "--chat --append-eos --eos '" + end + "'");
  ASSERT_EQ(result.exitCode, 0) << result.output;
  auto [targets, all] = written();
  EXPECT_EQ(all, "Q: x\nA: y" + end + "z" + end);
  EXPECT_EQ(targets, "| y" + end); // nothing was answered to z, so its end is no target either
}

TEST_F(Chat, FormatsOfSpecialTokens) {
  nlohmann::json json = nlohmann::json::parse(readText(golden + "gpt2.json"));
  for (const char *token : {"<|im_start|>", "<|im_end|>"}) {
    nlohmann::json added = json["added_tokens"][0];
    added["content"] = token, added["id"] = 640 + json["added_tokens"].size();
    json["added_tokens"].push_back(added);
  }
  writeText(folder / "tokenizer.json", json.dump());
  ASSERT_EQ(tokenizer.size(), 641u);
  text::Tokenizer chatml;
  ASSERT_EQ(chatml.open(folder / "tokenizer.json").message(), "");
  writeText(folder / "in.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}, {\"role\": "
                                 "\"assistant\", \"content\": \"y\"}]}");
  RunResult result = runShell(std::string(PAR_DATA) + " --chat --tokenizer " + (folder / "tokenizer.json") +
                              " -o " + (folder / "o.bin") + " " + (folder / "in.jsonl"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  result = runShell(std::string(PAR_DATA) + " --tokenizer " + (folder / "tokenizer.json") + " --decode " +
                    (folder / "o.bin"));
  EXPECT_EQ(result.output, "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\ny<|im_end|>\n");
}

TEST_F(Chat, TheModelsTemplateCountsUnlessTurnsAreGiven) {
  nlohmann::json config = {
      {"eos_token", end},
      {"chat_template",
       "{% for m in messages %}{% if m.role == 'user' %}Q: {{ m.content | trim }}\n{% elif m.role == "
       "'assistant' %}A: {{ m.content + eos_token }}\n{% else %}{{ raise_exception('No ' + m.role) }}"
       "{% endif %}{% endfor %}{% if add_generation_prompt %}A: {% endif %}"}};
  writeText(folder / "tokenizer.json", readText(golden + "gpt2.json"));
  writeText(folder / "in.jsonl",
            R"({"messages": [{"role": "user", "content": " x "}, {"role": "assistant", "content": "yes"},
    {"role": "user", "content": "y"}, {"role": "assistant", "content": "no"}]})");
  std::string lines = readText(folder / "in.jsonl");
  lines.erase(std::remove(lines.begin(), lines.end(), '\n'), lines.end());
  auto run = [&](const std::string &line, const std::string &flags) {
    writeText(folder / "tokenizer_config.json", config.dump());
    writeText(folder / "in.jsonl", line);
    return runShell(std::string(PAR_DATA) + " --chat --tokenizer " + (folder / "") + " -o " +
                    (folder / "o.bin") + " " + (folder / "in.jsonl") + " " + flags);
  };
  RunResult result = run(lines, "");
  ASSERT_EQ(result.exitCode, 0) << result.output;
  EXPECT_NE(result.output.find("messages are written as "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("tokenizer_config.json: chat_template says"), std::string::npos)
      << result.output;
  auto [targets, all] = written();
  EXPECT_EQ(all, "Q: x\nA: yes" + end + "\nQ: y\nA: no" + end + "\n");
  EXPECT_EQ(targets, "| yes" + end + "\n| no" + end + "\n"); // " no" is one token, so its space counts
  result = run(lines, "--turn '*={content}'");
  EXPECT_NE(result.output.find("messages are written as --turn says"), std::string::npos) << result.output;
  EXPECT_EQ(written().second, " x yesyno");
  result = run(R"({"messages": [{"role": "system", "content": "s"}]})", "");
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_NE(result.output.find(
                "chat_template: line 3: it refuses this conversation: No system; give --turn ROLE=TEMPLATE"),
            std::string::npos)
      << result.output;
  config["chat_template"] = "{% include 'a' %}";
  EXPECT_EQ(run(lines, "").exitCode, 1);
  EXPECT_EQ(run("{\"prompt\": \"a\", \"completion\": \"b\"}", "").exitCode, 0); // needs none
}

TEST_F(Chat, MistakesAreNamed) {
  auto expectError = [&](const std::string &lines, const std::string &flags, const std::string &part) {
    RunResult result = parData(lines, flags);
    EXPECT_EQ(result.exitCode, 1) << part;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output << part;
    EXPECT_FALSE(std::filesystem::exists(folder / "o.bin"));
  };
  std::string good = "{\"prompt\": \"a\", \"completion\": \"b\"}\n",
              one = "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}\n";
  expectError(good + "x", "--chat", "in.jsonl: line 2: is no JSON object: byte 1: invalid literal");
  expectError("{\"prompt\": \"a", "--chat",
              "line 1: is no JSON object: byte 14: invalid string: missing closing quote");
  expectError("{\"prompt\": \"\\ud800\"}", "--chat",
              "invalid string: surrogate U+D800..U+DBFF must be followed by");
  expectError("[]", "--chat", "line 1: is no JSON object, but of the type array");
  expectError("5", "--jsonl text", "line 1: is no JSON object, but of the type number");
  expectError("{\"text\": \"\\udc00\"}", "--jsonl text", "line 1: is no JSON object: byte ");
  expectError("{\"messages\": []}", "--chat --turn '*={content}'",
              "in.jsonl: line 1: has no message in \"messages\"; leave the line out");
  expectError("{\"messages\": [], \"completion\": \"b\"}", "--chat",
              "in.jsonl: line 1: has \"messages\" and \"completion\", which both say what is trained");
  expectError("{\"prompt\": \"\", \"completion\": \"\"}", "--chat",
              "in.jsonl: has no text, nor has another input, so there is nothing to write");
  expectError(good + "{\"text\": \"a\"}", "--chat",
              "in.jsonl: line 2: has neither \"messages\" nor strings \"prompt\" and \"completion\"");
  expectError(
      one, "--chat",
      "line 1: has \"messages\", but the model's folder has no chat template, and the tokenizer the special "
      "tokens of no chat format that is known; give --turn ROLE=TEMPLATE");
  expectError(one, "--chat --turn 'assistant={content}'",
              "line 1: no --turn says how the role \"user\" is written");
  expectError(good + "{\"messages\": [], \"tools\": " + std::string(99999, '[') + std::string(99999, ']') +
                  "}",
              "--chat --turn '*={content}'", "in.jsonl: line 2: has more than 200 levels of nesting");
  expectError("{\"messages\": [], \"tools\": [1]}", "--chat --turn '*={content}'",
              "line 1: has \"tools\", which no --turn can write");
  expectError("{\"messages\": [{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": []}]}",
              "--chat --turn '*={content}'",
              "line 1: message 1 has \"tool_calls\", which no --turn can write");
  expectError("{\"messages\": [{\"role\": \"user\"}]}", "--chat --turn '*={content}'",
              "line 1: message 1 has no \"content\"");
  expectError(good, "--chat --turn 'user'", "--turn is 'user', expected ROLE=TEMPLATE");
  expectError(good, "--chat --turn 'user=x'",
              "--turn has a template that does not say {content} once: user=x");
  expectError(good, "--chat --turn '*={content}' --turn '*={content}.'", "--turn gives the role * twice");
  expectError(good, "--chat --turn '*={content}'", "in.jsonl has any; leave it out");
  expectError(good, "--turn '*={content}'", "--turn belongs to --chat");
  expectError(good, "--chat --jsonl text", "--jsonl has no meaning with --chat");
  expectError(good, "--chat --dtype uint16", "--dtype has no meaning with --chat");
}

TEST_F(Chat, MasksOfAFileAreTargetsThatDoNotCount) {
  Ids ids;
  for (uint32_t i = 0; i < 20 * (TINY_SEQ + 1); ++i)
    ids.push_back(i % TINY_VOCAB | (i % 4 ? io::maskedBit : 0));
  writeText(folder / "m.bin", maskedFile(ids));
  io::TokenData data;
  ASSERT_EQ(data.open(folder / "m.bin", io::TokenType::automatic, TINY_SEQ, TINY_VOCAB, 0).message(), "");
  EXPECT_TRUE(data.checkVocabulary(20).ok());
  std::vector<int32_t> tokens(TINY_SEQ + 1), targets(TINY_SEQ);
  int64_t counted = 0;
  for (int64_t window = 0; window < data.windowCount(); ++window) {
    data.window(window, tokens.data());
    std::copy(tokens.begin() + 1, tokens.end(), targets.begin());
    data.maskTargets(window, tokens.data(), targets.data());
    for (int64_t i = 0; i < TINY_SEQ; ++i) {
      int64_t at = window * (TINY_SEQ + 1) + i + 1;
      EXPECT_EQ(tokens[size_t(i) + 1], at % TINY_VOCAB);
      EXPECT_EQ(targets[size_t(i)], at % 4 ? io::ignoredTarget : at % TINY_VOCAB);
      counted += at % 4 == 0;
    }
  }
  EXPECT_EQ(data.countTargets(0, 20), counted);
  io::TokenData other;
  ids[7] ^= io::maskedBit;
  writeText(folder / "n.bin", maskedFile(ids));
  ASSERT_TRUE(other.open(folder / "n.bin", io::TokenType::automatic, TINY_SEQ, TINY_VOCAB, 0).ok());
  EXPECT_NE(data.summary(), other.summary()); // processes compare that
}

TEST_F(Chat, RunsGoOnWithMasks) {
  nlohmann::json manifest = tinyManifest(2, 1);
  addEvaluation(manifest);
  writePackage(folder / "a.par", manifest);
  Ids ids;
  for (uint32_t i = 0; i < 30 * (TINY_SEQ + 1); ++i)
    ids.push_back(i * i % TINY_VOCAB | (i % 3 ? 0 : io::maskedBit));
  writeText(folder / "m.bin", maskedFile(ids));
  std::string run = (folder / "a.par") + " --data " + (folder / "m.bin") + " --eval-data " +
                    (folder / "m.bin") + " --steps ";
  RunResult result = parRun(run + "6 --save-params " + (folder / "p") + " --metrics " + (folder / "m"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  EXPECT_NE(result.output.find("read as uint32 with masked targets"), std::string::npos) << result.output;
  int64_t counted = 0;
  for (int64_t i = 0; i < 30 * (TINY_SEQ + 1); ++i)
    counted += i % (TINY_SEQ + 1) && i % 3;
  EXPECT_EQ(metricsOf(folder / "m").back()["eval_tokens"], counted);
  for (const char *steps : {"4", "6"})
    ASSERT_EQ(parRun(run + steps + " --resume latest --checkpoint " + (folder / "c") + " --save-params " +
                     (folder / "q"))
                  .exitCode,
              0);
  EXPECT_EQ(readText(folder / "p"), readText(folder / "q"));
  std::string bytes = maskedFile(ids);
  writeText(folder / "m.bin", bytes.substr(0, bytes.size() - 4));
  result = parRun(run + "1");
  EXPECT_NE(result.output.find("its header says 180 tokens of 4 bytes"), std::string::npos) << result.output;
  writeText(folder / "m.bin", bytes);
  result = parRun(run + "1 --data-dtype uint32");
  EXPECT_NE(result.output.find("states its own type"), std::string::npos) << result.output;
}
