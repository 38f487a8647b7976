/// par-data --chat run on lines, and what its file says.
#ifndef PAR_TEST_CHATDATA_H
#define PAR_TEST_CHATDATA_H

#include "TinyPackage.h"
#include "par/io/MaskedTokens.h"
#include "text/Encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace par::test {

using Ids = std::vector<uint32_t>;

/// A folder with a tokenizer of ChatML's special tokens, and perhaps a chat template.
class ChatData : public testing::Test {
protected:
  void SetUp() override {
    nlohmann::json json = nlohmann::json::parse(readText(golden + "gpt2.json"));
    for (const char *token : {"<|im_start|>", "<|im_end|>"}) {
      nlohmann::json added = json["added_tokens"][0];
      added["content"] = token, added["id"] = 640 + json["added_tokens"].size();
      json["added_tokens"].push_back(added);
    }
    std::filesystem::create_directories(folder / "model");
    writeText(folder / "model/tokenizer.json", json.dump());
    writeText(folder / "model/tokenizer_config.json", R"({"eos_token": "<|endoftext|>"})");
    ASSERT_EQ(tokenizer.open(folder / "model/tokenizer.json").message(), "");
  }
  void setTemplate(const std::string &source) { writeText(folder / "model/chat_template.jinja", source); }
  RunResult parData(const std::string &lines, const std::string &flags = "") {
    writeText(folder / "in.jsonl", lines);
    for (const char *name : {"o.bin", "o.bin.json"})
      std::filesystem::remove(folder / name);
    return runShell(std::string(PAR_DATA) + " --chat --tokenizer " + (folder / "model") + " -o " +
                    (folder / "o.bin") + " " + flags + " " + (folder / "in.jsonl"));
  }
  /// The text of what is a target, parts of it with | before them, and of all.
  std::pair<std::string, std::string> written() {
    std::string bytes = readText(folder / "o.bin"), all, targets;
    if (bytes.size() < 16)
      return {"no file", ""};
    Ids ids((bytes.size() - 16) / 4);
    std::memcpy(ids.data(), bytes.data() + 16, 4 * ids.size());
    bool before = false;
    plain.clear();
    for (uint32_t id : ids) {
      bool isTarget = !(id & io::maskedBit);
      plain.push_back(id & ~(io::maskedBit | io::rowBit));
      std::string text(tokenizer.bytes(plain.back()));
      all += text;
      targets += isTarget ? (before ? "" : "|") + text : "";
      before = isTarget;
    }
    return {targets, all};
  }
  /// The targets of lines, or what is wrong.
  std::string targetsOf(const std::string &lines, const std::string &flags = "") {
    RunResult result = parData(lines, flags);
    return result.exitCode ? result.output : written().first;
  }
  void expectError(const std::string &lines, const std::string &flags, const std::string &part) {
    RunResult result = parData(lines, flags);
    EXPECT_EQ(result.exitCode, 1) << part;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output << "\nexpected: " << part;
    EXPECT_FALSE(std::filesystem::exists(folder / "o.bin"));
    EXPECT_FALSE(std::filesystem::exists(folder / "o.bin.json"));
  }

  const std::string golden = PAR_TEST_DIR "/Golden/tokenizer/";
  TemporaryFolder folder;
  text::Tokenizer tokenizer;
  Ids plain;
};

} // namespace par::test
#endif
