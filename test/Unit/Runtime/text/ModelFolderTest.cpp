// The files beside a tokenizer say how many ids the model has, and which end a text.
#include "text/ModelFolder.h"
#include "TinyPackage.h"
#include "text/EndTokens.h"

#include <gtest/gtest.h>

using namespace par;
using namespace par::test;
using text::ModelFolder;

namespace {
class ModelFolders : public testing::Test {
protected:
  void SetUp() override {
    writeText(folder / "tokenizer.json", readText(PAR_TEST_DIR "/Golden/tokenizer/gemma.json"));
  }
  uint32_t vocabulary(const std::string &config) {
    writeText(folder / "config.json", config);
    ModelFolder model;
    EXPECT_EQ(model.open(folder / "").message(), "");
    return model.vocabulary;
  }
  std::vector<int64_t> ends(const std::string &config) {
    writeText(folder / "config.json", config);
    std::vector<int64_t> ids;
    EXPECT_EQ(text::findEndTokens(folder / "", 2000, ids).message(), "");
    return ids;
  }
  TemporaryFolder folder;
};
} // namespace

TEST_F(ModelFolders, ModelsMayHaveMoreIdsThanTheTokenizer) {
  ModelFolder model;
  ASSERT_EQ(model.open(folder / "").message(), "");
  uint32_t own = model.tokenizer.size();
  EXPECT_EQ(model.vocabulary, own);
  EXPECT_EQ(vocabulary(R"({"vocab_size": 1024})"), 1024u);
  EXPECT_EQ(vocabulary(R"({"vocab_size": 5})"), own);
  // Gemma 3 with pictures.
  EXPECT_EQ(vocabulary(R"({"text_config": {"vocab_size": 1024}, "vision_config": {"vocab_size": 9000}})"),
            1024u);
  EXPECT_EQ(vocabulary(R"({"vocab_size": 1000, "text_config": {"vocab_size": 1024}})"), 1000u);
  EXPECT_EQ(vocabulary(R"({"text_config": 5})"), own);
}

TEST_F(ModelFolders, EndTokensOfTheTextPartCount) {
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(ends(R"({"eos_token_id": [1, 6]})"), (Ids{1, 6}));
  EXPECT_EQ(ends(R"({"text_config": {"eos_token_id": 1}})"), Ids{1});
  EXPECT_EQ(ends(R"({"eos_token_id": [1, 6], "text_config": {"eos_token_id": 1}})"), (Ids{1, 6}));
  EXPECT_EQ(ends(R"({"text_config": {}})"), Ids());
  ModelFolder model;
  uint32_t id = 0;
  writeText(folder / "config.json", R"({"text_config": {"eos_token_id": 6}})");
  ASSERT_EQ(model.open(folder / "").message(), "");
  EXPECT_EQ(model.findEos("", id).message(), "");
  EXPECT_EQ(id, 6u);
  EXPECT_EQ(model.findEos("<eos>", id).message(), "");
  EXPECT_EQ(id, 1u);
}
