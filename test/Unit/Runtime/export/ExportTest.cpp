// par-export: weights from every kind of source, shards, the config, and one line for every mistake.
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "export/ModelConfig.h"
#include "export/WeightFiles.h"
#include "par/io/FloatTypes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace par;
using namespace par::exporting;
using namespace par::test;
using nlohmann::json;

namespace {
RunResult parExport(const std::string &arguments) {
  return runShell(std::string(PAR_EXPORT) + " " + arguments);
}

const std::string tinyConfig =
    R"({"model_type": "tiny", "tie_word_embeddings": true, "keep": [1, {"b": 2, "a": 3}]})";
const io::Shape tinyShape = {3, TINY_VOCAB};

class Export : public testing::Test {
protected:
  void SetUp() override {
    writePackage(folder / "m.par", tinyManifest(2, 2));
    writeText(folder / "config.json", tinyConfig);
    for (int i = 0; i < 3 * TINY_VOCAB; ++i)
      values.push_back(float(i) * 0.37f - 5);
    io::SafetensorsWriter writer;
    ASSERT_TRUE(writer.create(folder / "w.safetensors", {{"transformer.wte.weight", tinyShape}}).ok());
    ASSERT_TRUE(writer.append(values.data(), int64_t(values.size())).ok());
    ASSERT_TRUE(writer.commit().ok());
  }
  RunResult run(const std::string &checkpoint, const std::string &rest) {
    return parExport((folder / "m.par") + " --checkpoint " + (folder / checkpoint) + " --source " +
                     folder.root() + " -o " + (folder / "out") + " " + rest);
  }
  void expectError(const std::string &part, const RunResult &result) {
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_EQ(result.output.rfind("error: ", 0), 0u) << result.output;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output;
    EXPECT_FALSE(io::isFile(folder / "out/config.json"));
    for (const std::string &name : folder.files())
      EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
  }

  TemporaryFolder folder;
  std::vector<float> values;
};

io::Status config(const std::string &content, const std::vector<io::NamedShape> &tensors, std::string &result,
                  const std::string &type = "llama") {
  std::string compiled = R"({"architectures":["LlamaForCausalLM"]})";
  return makeConfig("c.json", content, compiled, type, tensors, io::FileType::bf16, result);
}
} // namespace

TEST_F(Export, WeightsAreThoseOfTheFileToTheByte) {
  writeText(folder / "tokenizer.json", "any");
  RunResult result = run("w.safetensors", "");
  ASSERT_EQ(result.exitCode, 0) << result.output;
  EXPECT_EQ(readText(folder / "out/model.safetensors"), readText(folder / "w.safetensors"));
  EXPECT_EQ(readText(folder / "out/tokenizer.json"), "any");
  EXPECT_EQ(readText(folder / "out/config.json"),
            "{\n  \"model_type\": \"tiny\",\n  \"tie_word_embeddings\": true,\n  \"keep\": [\n    1,\n    "
            "{\n      \"b\": 2,\n"
            "      \"a\": 3\n    }\n  ],\n  \"torch_dtype\": \"float32\"\n}\n");
}

TEST_F(Export, ACheckpointOfFourRanksIsTheFileThatTheySave) {
  RunResult result = parRun((folder / "m.par") + " --steps 2 --save-params " + (folder / "p.safetensors") +
                            " --checkpoint " + (folder / "ck") + " --weights " + (folder / "w.safetensors"));
  ASSERT_EQ(result.exitCode, 0) << result.output;
  ASSERT_EQ(run("ck", "").exitCode, 0);
  EXPECT_EQ(readText(folder / "out/model.safetensors"), readText(folder / "p.safetensors"));
  EXPECT_NE(readText(folder / "p.safetensors"), readText(folder / "w.safetensors"));
}

TEST_F(Export, Bfloat16GoldenBytes) {
  ASSERT_EQ(run("w.safetensors", "--dtype bf16").exitCode, 0);
  std::string header =
      R"({"__metadata__":{"format":"pt"},"transformer.wte.weight":{"dtype":"BF16","shape":[3,)" +
      std::to_string(TINY_VOCAB) + R"(],"data_offsets":[0,)" + std::to_string(6 * TINY_VOCAB) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string content = readText(folder / "out/model.safetensors");
  ASSERT_EQ(content.substr(8, header.size()), header);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t word;
    std::memcpy(&word, content.data() + 8 + header.size() + 2 * i, 2);
    EXPECT_NEAR(io::bfloatToFloat(word), values[i], std::fabs(values[i]) / 256) << i;
  }
  uint16_t first;
  std::memcpy(&first, content.data() + 8 + header.size(), 2);
  EXPECT_EQ(first, 0xC0A0); // -5
  EXPECT_NE(readText(folder / "out/config.json").find("\"torch_dtype\": \"bfloat16\""), std::string::npos);
}

TEST_F(Export, TheConfigCanBeThePackagesOwn) {
  json manifest = tinyManifest(1, 1);
  manifest["files"]["config.json"] = "wrong";
  writePackage(folder / "own.par", manifest);
  writeText(folder / "own.par/config.json", tinyConfig);
  std::string command =
      (folder / "own.par") + " --checkpoint " + (folder / "w.safetensors") + " -o " + (folder / "out");
  expectError("own.par/config.json: was changed after the package was compiled", parExport(command));
  expectError("m.par: has no config.json (it was compiled from a graph); give the model",
              parExport((folder / "m.par") + " --checkpoint " + (folder / "w.safetensors") + " -o " +
                        (folder / "out")));
}

TEST_F(Export, MistakesAreNamed) {
  expectError("--checkpoint is missing", parExport((folder / "m.par") + " -o " + (folder / "out")));
  expectError("--dtype is 'f64', expected f32|bf16|f16", run("w.safetensors", "--dtype f64"));
  expectError("--dtype is given twice", run("w.safetensors", "--dtype f16 --dtype f16"));
  expectError("unknown flag --max-shard; did you mean --max-shard-size?",
              run("w.safetensors", "--max-shard 5GB"));
  expectError("is no package", parExport((folder / "no.par") + " --checkpoint x -o " + (folder / "out")));
  expectError("missing: cannot be read", run("missing", ""));
  expectError("m.par: holds no complete checkpoint", run("m.par", ""));
  expectError("--max-shard-size is '5XB', expected a size", run("w.safetensors", "--max-shard-size 5XB"));
  writeText(folder / "config.json", R"({"model_type": "llama"})");
  expectError("config.json: model_type is \"llama\", but the package was compiled with \"tiny\"",
              run("w.safetensors", ""));
  writeText(folder / "config.json", "{");
  expectError("config.json: is no JSON object", run("w.safetensors", ""));
  writeText(folder / "config.json", tinyConfig);
  values[0] = 1e6f;
  io::SafetensorsWriter writer;
  ASSERT_TRUE(writer.create(folder / "big.safetensors", {{"transformer.wte.weight", tinyShape}}).ok());
  ASSERT_TRUE(writer.append(values.data(), int64_t(values.size())).ok());
  ASSERT_TRUE(writer.commit().ok());
  expectError("does not fit into f16; use bf16 or f32", run("big.safetensors", "--dtype f16"));
  ASSERT_EQ(run("w.safetensors", "").exitCode, 0);
  RunResult again = run("w.safetensors", "");
  EXPECT_NE(again.output.find("out: exists and is no empty folder"), std::string::npos) << again.output;
}

TEST(ExportConfig, NamesClassAndElementType) {
  std::string result;
  std::vector<io::NamedShape> tensors = {{"model.embed_tokens.weight", {100, 8}},
                                         {"model.layers.0.mlp.up_proj.weight", {16, 8}},
                                         {"model.layers.1.mlp.gate_up_proj.weight", {32, 8}},
                                         {"model.layers.1.mlp.down_proj.weight", {8, 16}},
                                         {"lm_head.weight", {100, 8}}};
  std::string good =
      R"({"model_type":"llama","dtype":"float32","vocab_size":100,"num_hidden_layers":2,"intermediate_size":16})";
  io::Status status = config(good, tensors, result);
  ASSERT_TRUE(status.ok()) << status.message();
  json made = json::parse(result);
  EXPECT_EQ(made["architectures"], json({"LlamaForCausalLM"}));
  EXPECT_EQ(made["dtype"], "bfloat16");
  EXPECT_FALSE(made.contains("torch_dtype"));
  auto wrong = [&](const std::string &from, const std::string &to) {
    std::string content = good;
    content.replace(content.find(from), from.size(), to);
    return config(content, tensors, result).message();
  };
  EXPECT_EQ(wrong("100", "99"),
            "c.json: vocab_size is 99, but the package was compiled with 100; give the config it was "
            "compiled from with --source");
  EXPECT_NE(wrong("\"num_hidden_layers\":2", "\"num_hidden_layers\":3").find("num_hidden_layers is 3"),
            std::string::npos);
  EXPECT_NE(wrong("16", "17").find("intermediate_size is 17"), std::string::npos);
  EXPECT_NE(
      wrong("\"dtype\":\"float32\"", "\"tie_word_embeddings\":true").find("tie_word_embeddings is true"),
      std::string::npos);
}

TEST(ExportShards, BeginWhereTheSizeWouldBeExceeded) {
  std::vector<io::NamedShape> tensors = {{"a", {10}}, {"b", {10}}, {"c", {100}}, {"d", {1}}, {"e", {1}}};
  EXPECT_EQ(planShards(tensors, io::FileType::f32, 80), (std::vector<size_t>{2, 1, 2}));
  EXPECT_EQ(planShards(tensors, io::FileType::bf16, 40), (std::vector<size_t>{2, 1, 2}));
  EXPECT_EQ(planShards(tensors, io::FileType::f32, 1000), (std::vector<size_t>{5}));
  struct Ones : ParameterSource {
    io::Status read(const io::FileTensor &tensor, std::vector<float> &values) const override {
      values.assign(size_t(io::elementCount(tensor.tensor.shape)), 1.0f);
      return {};
    }
  };
  TemporaryFolder folder;
  std::vector<std::string> files;
  std::vector<io::FileTensor> whole;
  for (const io::NamedShape &tensor : tensors)
    whole.push_back({tensor, {}});
  ASSERT_TRUE(writeWeights(folder.root(), Ones(), whole, io::FileType::f32, 80, files).ok());
  EXPECT_EQ(files,
            (std::vector<std::string>{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                      "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  json index = json::parse(readText(folder / "model.safetensors.index.json"));
  EXPECT_EQ(index["metadata"]["total_size"], 488);
  EXPECT_EQ(index["weight_map"]["c"], "model-00002-of-00003.safetensors");
  EXPECT_EQ(tensorsOf(folder / "model-00003-of-00003.safetensors").size(), 2u);
}

TEST(FloatTypes, HalvesSurviveAndTheRestRoundsToEven) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    float half = io::halfToFloat(uint16_t(h)), bfloat = io::bfloatToFloat(uint16_t(h));
    if (!std::isnan(half))
      ASSERT_EQ(io::floatToHalf(half), h);
    else
      ASSERT_TRUE(std::isnan(io::halfToFloat(io::floatToHalf(half))));
    if (!std::isnan(bfloat))
      ASSERT_EQ(io::floatToBfloat(bfloat), h);
    else
      ASSERT_TRUE(std::isnan(io::bfloatToFloat(io::floatToBfloat(bfloat))));
    // Halfway to the next one, and the floats beside that.
    if ((h & 0x7FFF) < 0x7BFF) {
      float next = io::halfToFloat(uint16_t(h + 1)), middle = (half + next) / 2;
      ASSERT_EQ(io::floatToHalf(middle), h + (h & 1)) << h;
      ASSERT_EQ(io::floatToHalf(std::nextafter(middle, half)), h);
      ASSERT_EQ(io::floatToHalf(std::nextafter(middle, next)), h + 1);
    }
  }
  EXPECT_EQ(io::floatToHalf(65519.996f), 0x7BFF);
  EXPECT_EQ(io::floatToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(io::floatToHalf(-1e30f), 0xFC00);
  EXPECT_EQ(io::floatToHalf(1e-30f), 0);
  EXPECT_EQ(io::floatToBfloat(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(io::floatToBfloat(1.00390625f), 0x3F80); // halfway, to even
  EXPECT_EQ(io::floatToBfloat(1.01171875f), 0x3F82);
}
