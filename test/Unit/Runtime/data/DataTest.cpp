// par-data: files of tokens from text and back, documents, and one line for every mistake.
#include "TinyPackage.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace par::test;
using Ids = std::vector<uint32_t>;

namespace {
const std::string golden = PAR_TEST_DIR "/Golden/tokenizer/";

RunResult parData(const std::string &arguments) { return runShell(std::string(PAR_DATA) + " " + arguments); }

template <typename T>
Ids tokensOf(const std::string &path) {
  std::string bytes = readText(path);
  std::vector<T> tokens(bytes.size() / sizeof(T));
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  return {tokens.begin(), tokens.end()};
}

/// Ids of single letters: gpt2.json merges none of x, y, z here.
class Data : public testing::Test {
protected:
  void SetUp() override {
    vocabulary = nlohmann::json::parse(readText(golden + "gpt2.json"))["model"]["vocab"];
    end = 640;
  }
  uint32_t id(const std::string &token) { return vocabulary[token].get<uint32_t>(); }
  std::string arguments(const std::string &rest) {
    return "--tokenizer " + golden + "gpt2.json -o " + (folder / "o.bin") + " " + rest;
  }
  void expectError(const std::string &part, const std::string &rest) {
    RunResult result = parData(rest);
    EXPECT_EQ(result.exitCode, 1) << rest;
    EXPECT_EQ(result.output.rfind("error: ", 0), 0u) << result.output;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output;
  }

  TemporaryFolder folder;
  nlohmann::json vocabulary;
  uint32_t end = 0;
};
} // namespace

TEST_F(Data, FilesAreDocumentsAndComeBackAsText) {
  writeText(folder / "a.txt", "x\ny");
  writeText(folder / "b.txt", "z");
  writeText(folder / "empty.txt", "");
  RunResult result = parData(arguments("--append-eos --eos '<|endoftext|>' " + (folder / "a.txt") + " " +
                                       (folder / "empty.txt") + " " + (folder / "b.txt")));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  EXPECT_NE(result.output.find("6 tokens of uint16 from 2 documents of 4 bytes"), std::string::npos)
      << result.output;
  EXPECT_EQ(tokensOf<uint16_t>(folder / "o.bin"), (Ids{id("x"), id("\u010A"), id("y"), end, id("z"), end}));
  result = parData("--tokenizer " + golden + "gpt2.json --decode " + (folder / "o.bin"));
  EXPECT_EQ(result.output, "x\ny<|endoftext|>z<|endoftext|>");
  ASSERT_EQ(parData(arguments("--decode " + (folder / "o.bin") + " -o " + (folder / "t.txt"))).exitCode,
            1); // -o twice
  ASSERT_EQ(parData("--tokenizer " + golden + "gpt2.json --decode " + (folder / "o.bin") + " -o " +
                    (folder / "t.txt"))
                .exitCode,
            0);
  EXPECT_EQ(readText(folder / "t.txt"), "x\ny<|endoftext|>z<|endoftext|>");
}

TEST_F(Data, SeparatorsAndLinesOfJson) {
  writeText(folder / "a.txt", "x\n---\ny\n---\n");
  ASSERT_EQ(parData(arguments("--append-eos --eos x --separator '\\n---\\n' " + (folder / "a.txt"))).exitCode,
            0);
  EXPECT_EQ(tokensOf<uint16_t>(folder / "o.bin"), (Ids{id("x"), id("x"), id("y"), id("x")}));
  writeText(folder / "a.jsonl", "{\"t\": \"x\\ny\", \"id\": 1}\n\n{\"t\": \"\"}\r\n{\"t\": \"z\"}");
  ASSERT_EQ(parData(arguments("--append-eos --eos x --jsonl t --dtype u32 " + (folder / "a.jsonl"))).exitCode,
            0);
  EXPECT_EQ(tokensOf<uint32_t>(folder / "o.bin"),
            (Ids{id("x"), id("\u010A"), id("y"), id("x"), id("z"), id("x")}));
  ASSERT_EQ(runShell("printf 'xz' | " PAR_DATA " " + arguments("-")).exitCode, 0);
  EXPECT_EQ(tokensOf<uint16_t>(folder / "o.bin"), (Ids{id("x"), id("z")}));
}

TEST_F(Data, AFolderSaysWhichTokenEndsAndHowManyIdsThereAre) {
  writeText(folder / "tokenizer.json", readText(golden + "llama3.json"));
  writeText(folder / "tokenizer_config.json", R"({"eos_token": {"content": "<|end_of_text|>"}})");
  writeText(folder / "config.json", R"({"vocab_size": 70000})");
  writeText(folder / "a.txt", "x");
  std::string command =
      "--tokenizer " + folder.root() + " -o " + (folder / "o.bin") + " --append-eos " + (folder / "a.txt");
  ASSERT_EQ(parData(command + " --prepend-bos").exitCode, 0);
  Ids ids = tokensOf<uint32_t>(folder / "o.bin");
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0] + 1, ids[2]); // <|begin_of_text|>, <|end_of_text|>
  writeText(folder / "tokenizer_config.json", "{}");
  writeText(folder / "config.json", R"({"vocab_size": 700, "eos_token_id": [7, 8]})");
  ASSERT_EQ(parData(command).exitCode, 0);
  EXPECT_EQ(tokensOf<uint16_t>(folder / "o.bin")[1], 7u);
}

/// What the tokens are lies beside them, and is no mark on a file of somebody else.
TEST_F(Data, AFileOfTokensIsDescribed) {
  writeText(folder / "a.txt", "x\ny");
  ASSERT_EQ(parData(arguments("--append-eos --eos x --dtype uint32 " + (folder / "a.txt"))).exitCode, 0);
  nlohmann::json json = nlohmann::json::parse(readText(folder / "o.bin.json"));
  EXPECT_EQ(json["written_by"], "par-data");
  EXPECT_EQ(json["type"], "uint32");
  EXPECT_EQ(json["tokens"], 4);
  EXPECT_EQ(json["targets"], 4);
  EXPECT_EQ(json["bytes"], 16);
  EXPECT_EQ(json["end_token"], id("x"));
  EXPECT_EQ(json["largest_id"], std::max({id("x"), id("\u010A"), id("y")}));
  EXPECT_EQ(json["vocabulary"], 641);
  // Both ways back know the type by it.
  std::string decode = "--tokenizer " + golden + "gpt2.json --decode " + (folder / "o.bin");
  EXPECT_EQ(parData(decode).output, "x\nyx");
  expectError("o.bin: was written as uint32, as " + (folder / "o.bin.json") +
                  " says, not as uint16; leave --dtype out",
              decode + " --dtype uint16");
  std::filesystem::remove(folder / "o.bin.json");
  expectError("every second 16-bit word is 0 or small, as in a file of 32-bit tokens; give --dtype uint32",
              decode);
  EXPECT_EQ(parData(decode + " --dtype uint32").output, "x\nyx");
  // A run over the same name replaces both, but no file of another kind.
  ASSERT_EQ(parData(arguments(folder / "a.txt")).exitCode, 0);
  ASSERT_EQ(parData(arguments(folder / "a.txt")).exitCode, 0);
  EXPECT_EQ(parData(decode).output, "x\ny");
  std::string before = readText(folder / "o.bin");
  writeText(folder / "o.bin.json", "{\"mine\": 1}");
  expectError("o.bin.json: is no description that par-data wrote",
              arguments("--append-eos --eos x " + (folder / "a.txt")));
  EXPECT_EQ(readText(folder / "o.bin"), before);
  EXPECT_EQ(readText(folder / "o.bin.json"), "{\"mine\": 1}");
  writeText(folder / "x.json", "xyz");
  expectError("x.json: is an input, and the description of " + (folder / "x") + " would replace it",
              "--tokenizer " + golden + "gpt2.json -o " + (folder / "x") + " " + (folder / "x.json"));
}

/// Whatever name it goes by: what is read is never replaced.
TEST_F(Data, AnInputIsNoOutput) {
  writeText(folder / "a.txt", "xyz");
  std::filesystem::create_hard_link(folder / "a.txt", folder / "b.txt");
  std::filesystem::create_symlink("a.txt", folder / "c.txt");
  std::string tokenizer = "--tokenizer " + golden + "gpt2.json ";
  for (const char *name : {"a.txt", "b.txt", "c.txt", "./a.txt"})
    expectError("is an input, too; give -o another name",
                tokenizer + (folder / "a.txt") + " -o " + (folder / name));
  expectError("b.txt: is also --decode, which is read",
              tokenizer + "--decode " + (folder / "a.txt") + " -o " + (folder / "b.txt"));
  EXPECT_EQ(readText(folder / "a.txt"), "xyz");
  writeText(folder / "t.json", readText(golden + "gpt2.json"));
  expectError("t.json: is also --tokenizer, which is read",
              "--tokenizer " + (folder / "t.json") + " -o " + (folder / "t.json") + " " + (folder / "a.txt"));
}

TEST_F(Data, ADashIsStandardOutput) {
  writeText(folder / "a.txt", "xz");
  std::string command = "cd " + folder.root() + " && " PAR_DATA " --tokenizer " + golden + "gpt2.json -o - ";
  ASSERT_EQ(runShell(command + "a.txt > tokens.bin").exitCode, 0);
  EXPECT_EQ(tokensOf<uint16_t>(folder / "tokens.bin"), (Ids{id("x"), id("z")}));
  EXPECT_EQ(runShell(command + "--decode tokens.bin").output, "xz");
  for (const std::string &name : folder.files())
    EXPECT_NE(name, "-");
}

TEST_F(Data, MistakesAreNamed) {
  writeText(folder / "a.txt", "x");
  writeText(folder / "bad.txt", "xyz\xFF");
  writeText(folder / "empty.txt", "");
  writeText(folder / "bad.jsonl", "{\"a\": \"x\"}\n{\"b\": 1}\n");
  writeText(folder / "odd.bin", "abc");
  writeText(folder / "far.bin", "\xFF\xFF");
  expectError("no INPUT is given", arguments(""));
  expectError("-o is missing", "--tokenizer " + golden + "gpt2.json " + (folder / "a.txt"));
  expectError("--dtype is 'u8', expected uint16|uint32", arguments("--dtype u8 " + (folder / "a.txt")));
  expectError("unknown flag --tokenize; did you mean --tokenizer?", arguments("--tokenize x"));
  expectError("--dtype is given twice", arguments("--dtype u16 --dtype uint16 " + (folder / "a.txt")));
  expectError("--separator and --jsonl both", arguments("--separator x --jsonl y " + (folder / "a.txt")));
  expectError("--eos has no effect without --append-eos", arguments("--eos x " + (folder / "a.txt")));
  expectError("missing.txt: cannot be read", arguments(folder / "missing.txt"));
  expectError("missing.json: cannot be read", "--tokenizer missing.json -o o " + (folder / "a.txt"));
  expectError("has no tokenizer.json", "--tokenizer " + folder.root() + " -o o " + (folder / "a.txt"));
  expectError("bad.txt: document at byte 0: byte 3 begins no UTF-8 sequence", arguments(folder / "bad.txt"));
  expectError("empty.txt: is empty", arguments(folder / "empty.txt"));
  expectError("bad.jsonl: line 2: has no string \"a\"", arguments("--jsonl a " + (folder / "bad.jsonl")));
  expectError("give --eos TOKEN", arguments("--append-eos " + (folder / "a.txt")));
  expectError("--eos: the end-of-sequence token \"nope\" is no token",
              arguments("--append-eos --eos nope " + (folder / "a.txt")));
  expectError("puts no token before a text", arguments("--prepend-bos " + (folder / "a.txt")));
  std::string decode = "--tokenizer " + golden + "gpt2.json --decode ";
  expectError("no whole number of 2-byte tokens", decode + (folder / "odd.bin"));
  expectError("token 0 is 65535, which is no id of the tokenizer", decode + (folder / "far.bin"));
  expectError("--append-eos says how text becomes tokens", decode + (folder / "far.bin") + " --append-eos");
  expectError("--decode takes no INPUT", decode + (folder / "far.bin") + " x");
  for (const std::string &name : folder.files()) // nothing half written
    EXPECT_EQ(name.find("o.bin"), std::string::npos) << name;
  EXPECT_EQ(parData("--help").exitCode, 0);
}

/// Of one word there is no part that could be done alone.
TEST_F(Data, MemoryThatEndsIsOneLineAndNoFile) {
#ifdef PAR_SANITIZE
  GTEST_SKIP() << "sanitizers need memory that is not limited";
#endif
  writeText(folder / "a.txt", std::string(60 << 20, 'a'));
  RunResult result = runShell("ulimit -v 400000; exec " PAR_DATA " --tokenizer " + golden +
                              "llama2.json -o " + (folder / "o.bin") + " " + (folder / "a.txt"));
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.output, "error: out of memory\n");
  EXPECT_EQ(folder.files().size(), 1u);
}
