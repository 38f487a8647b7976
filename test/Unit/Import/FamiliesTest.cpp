//===- FamiliesTest.cpp - what the keys of Qwen 3, Gemma, OLMo 2 and SmolLM 3 mean ----------------------===//
#include "ReadConfig.h"
#include "par/Import/LayerFunctions.h"

using namespace mlir::par;

namespace {

/// The value of `key` in each block; "none" where a block says nothing about it.
std::vector<std::string> byBlock(const ModelConfig &config, llvm::StringRef key) {
  std::vector<std::string> result;
  for (const ModelLayer &layer : config.layers)
    if (layer.number) {
      const KindDescription::Datum *value = find({layer}, key);
      result.push_back(!value ? "none" : KindDescription::Entry{"", *value, "", true}.getWord());
    }
  return result;
}

/// The names of the functions that blocks call.
std::vector<std::string> functionNames(const ModelConfig &config) {
  std::vector<std::string> names;
  for (const LayerFunction &function : findLayerFunctions(config).functions)
    names.push_back(function.name);
  return names;
}

bool contains(const std::string &text, llvm::StringRef part) {
  return text.find(part.str()) != std::string::npos;
}

//===----------------------------------------------------------------------===//
// Qwen 3
//===----------------------------------------------------------------------===//

constexpr const char *qwen3 = R"({"model_type": "qwen3", "num_hidden_layers": 3})";

TEST(Qwen3, normalisesHeads) {
  ModelConfig config = read(qwen3);
  EXPECT_EQ(label(config, "qk_norm"), "head");
  EXPECT_EQ(size(config, "head_dim"), 128);
  EXPECT_EQ(size(read(qwen3, {"hidden_size=96", "num_attention_heads=32"}), "head_dim"), 128);
  EXPECT_FALSE(flag(config, "attention_bias") || flag(config, "attention_output_bias"));
  EXPECT_TRUE(flag(read(qwen3, {"attention_bias=true"}), "attention_output_bias"));
}

TEST(Qwen3, windows) {
  EXPECT_EQ(windows(read(qwen3, {"sliding_window=16", "max_window_layers=1"})),
            (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(windows(read(qwen3, {"sliding_window=16", "max_window_layers=1", "use_sliding_window=true"})),
            (std::vector<int64_t>{0, 16, 16}));
}

//===----------------------------------------------------------------------===//
// Gemma
//===----------------------------------------------------------------------===//

constexpr const char *gemma2 = R"({"model_type": "gemma2", "num_hidden_layers": 3, "hidden_size": 64})";
constexpr const char *gemma3 = R"({"model_type": "gemma3_text", "num_hidden_layers": 4, "hidden_size": 64})";

TEST(Gemma2, defaults) {
  ModelConfig config = read(gemma2);
  EXPECT_EQ(windows(config), (std::vector<int64_t>{4096, 0, 4096}));
  EXPECT_EQ(real(config, "attn_logit_softcapping"), 50.0);
  EXPECT_EQ(real(config, "final_logit_softcapping"), 30.0);
  EXPECT_EQ(real(config, "query_pre_attn_scalar"), 256.0);
  EXPECT_EQ(real(config, "embedding_scale"), 8.0);
  EXPECT_EQ(real(config, "norm_offset"), 1.0);
  EXPECT_EQ(size(config, "head_dim"), 256);
  EXPECT_EQ(label(config, "hidden_act"), "gelu_tanh");
  EXPECT_EQ(label(config, "feed_forward_norm"), "pre_feedforward_layernorm");
  EXPECT_EQ(paddingToken(config), 0);
  EXPECT_TRUE(flag(config, "tie_word_embeddings"));
}

TEST(Gemma2, capsMayBeNone) {
  ModelConfig config = read(gemma2, {"attn_logit_softcapping=null", "final_logit_softcapping=null"});
  EXPECT_FALSE(find(config.layers, "attn_logit_softcapping") ||
               find(config.layers, "final_logit_softcapping"));
  EXPECT_TRUE(contains(failure(gemma2, {"attn_logit_softcapping=-1"}),
                       "'attn_logit_softcapping' is -1, expected a number greater than 0"));
}

TEST(Gemma2, theActivationHasAKeyOfItsOwn) {
  EXPECT_EQ(label(read(gemma2, {"hidden_act=relu"}), "hidden_act"), "gelu_tanh");
  EXPECT_EQ(label(read(gemma2, {"hidden_activation=relu"}), "hidden_act"), "relu");
}

TEST(Gemma3, kindsOfLayers) {
  ModelConfig config = read(gemma3, {"sliding_window_pattern=3", "sliding_window=8"});
  EXPECT_EQ(windows(config), (std::vector<int64_t>{8, 8, 0, 8}));
  EXPECT_EQ(byBlock(config, "rope_theta"), (std::vector<std::string>{"10000", "10000", "1000000", "10000"}));
  EXPECT_EQ(windows(read(gemma3, {"num_hidden_layers=7"})),
            (std::vector<int64_t>{4096, 4096, 4096, 4096, 4096, 0, 4096}));
  EXPECT_EQ(label(config, "qk_norm"), "head");
  EXPECT_FALSE(find(config.layers, "attn_logit_softcapping") ||
               find(config.layers, "final_logit_softcapping"));
  EXPECT_EQ(functionNames(config),
            (std::vector<std::string>{"embed", "block", "block.rope_theta1000000.full", "head"}));
}

TEST(Gemma3, theListAndThePatternAgree) {
  const char *types = R"(layer_types=["full_attention", "sliding_attention", "sliding_attention",
                                      "sliding_attention"])";
  EXPECT_EQ(windows(read(gemma3, {types, "sliding_window=8"})), (std::vector<int64_t>{0, 8, 8, 8}));
  EXPECT_TRUE(
      contains(failure(gemma3, {types, "sliding_window_pattern=2"}),
               "'layer_types' says that layer 0 has full_attention, but 'sliding_window_pattern' that it "
               "has sliding_attention; remove one of them"));
  EXPECT_TRUE(
      contains(failure(gemma3, {"sliding_window=0"}), "'sliding_window' is 0, expected an integer from 1"));
}

TEST(Gemma3, rotaryPositionsOfBothKinds) {
  // Written before Transformers 5: scaling is that of layers without a window.
  const char *scaling = R"(rope_scaling={"rope_type": "linear", "factor": 8.0})";
  ModelConfig old = read(gemma3, {"sliding_window_pattern=2", scaling, "rope_local_base_freq=77"});
  EXPECT_EQ(byBlock(old, "rope_scaling"), (std::vector<std::string>{"_none", "_linear", "_none", "_linear"}));
  EXPECT_EQ(byBlock(old, "rope_theta"), (std::vector<std::string>{"77", "1000000", "77", "1000000"}));
  const char *parameters =
      R"(rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 5000},
                          "sliding_attention": {"rope_type": "default", "rope_theta": 77}})";
  ModelConfig now = read(gemma3, {"sliding_window_pattern=2", parameters});
  EXPECT_EQ(byBlock(now, "rope_scaling"), byBlock(old, "rope_scaling"));
  EXPECT_EQ(byBlock(now, "rope_theta"), (std::vector<std::string>{"77", "5000", "77", "5000"}));
  EXPECT_TRUE(
      contains(failure(gemma3, {R"(rope_parameters={"full_attention": {"factor": -8.0, "type": "linear"}})"}),
               "'rope_parameters.full_attention.factor' is -8, expected a number greater than 0"));
}

TEST(Gemma3, theTextPartOfAModelOfPictures) {
  ModelConfig config =
      read(R"({"model_type": "gemma3", "vision_config": {"depth": 2}, "eos_token_id": [1, 106],
      "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 3, "hidden_size": 64}})",
           {"sliding_window=8"});
  EXPECT_EQ(config.modelType, "gemma3_text");
  EXPECT_EQ(windows(config), (std::vector<int64_t>{8, 8, 8}));
  ASSERT_EQ(config.notes.size(), 1u);
  EXPECT_TRUE(contains(config.notes[0], "its picture part is left out"));
  // A package keeps a config of its own for exports.
  EXPECT_FALSE(contains(config.json, "vision_config"));
  EXPECT_TRUE(contains(config.json, "eos_token_id"));
  EXPECT_TRUE(contains(failure(R"({"model_type": "gemma3"})"), "the dictionary 'text_config'"));
}

//===----------------------------------------------------------------------===//
// OLMo 2 and 3, SmolLM 3
//===----------------------------------------------------------------------===//

TEST(Olmo2, normsStandBehindBranches) {
  ModelConfig config = read(R"({"model_type": "olmo2"})");
  EXPECT_EQ(label(config, "qk_norm"), "all_heads");
  EXPECT_EQ(label(config, "attention_norm"), "");
  EXPECT_EQ(label(config, "attention_output_norm"), "post_attention_layernorm");
  EXPECT_EQ(label(config, "feed_forward_output_norm"), "post_feedforward_layernorm");
  EXPECT_EQ(real(config, "norm_eps"), 1e-5);
  EXPECT_EQ(paddingToken(config), 1);
}

TEST(Olmo3, kindsOfLayers) {
  ModelConfig config = read(R"({"model_type": "olmo3", "num_hidden_layers": 4, "rope_theta": 99})");
  EXPECT_EQ(windows(config), (std::vector<int64_t>{4096, 4096, 4096, 0}));
  EXPECT_EQ(byBlock(config, "rope_theta"), (std::vector<std::string>{"500000", "500000", "500000", "99"}));
}

constexpr const char *smolLM3 = R"({"model_type": "smollm3", "num_hidden_layers": 5, "vocab_size": 128256})";

TEST(SmolLM3, someLayersHaveNoPositions) {
  ModelConfig config = read(smolLM3);
  EXPECT_EQ(byBlock(config, "rope"), (std::vector<std::string>{"none", "none", "none", "_false", "none"}));
  EXPECT_EQ(byBlock(config, "rope_theta"),
            (std::vector<std::string>{"2000000", "2000000", "2000000", "none", "2000000"}));
  EXPECT_EQ(functionNames(config), (std::vector<std::string>{"embed", "block", "block.nope", "head"}));
  EXPECT_TRUE(flag(config, "tie_word_embeddings"));
  EXPECT_EQ(byBlock(read(smolLM3, {"no_rope_layers=[0, 1, 1, 1, true]"}), "rope"),
            (std::vector<std::string>{"_false", "none", "none", "none", "none"}));
}

TEST(SmolLM3, layersWithoutPositionsHaveTheWindow) {
  std::vector<std::string> window = {"use_sliding_window=true", "sliding_window=8"};
  EXPECT_EQ(windows(read(smolLM3, window)), (std::vector<int64_t>{0, 0, 0, 8, 0}));
  EXPECT_EQ(windows(read(smolLM3, {"sliding_window=8"})), (std::vector<int64_t>{0, 0, 0, 0, 0}));
}

TEST(SmolLM3, refusesOtherLists) {
  EXPECT_TRUE(
      contains(failure(smolLM3, {"no_rope_layers=[1, 0]"}), "'no_rope_layers' has 2 entries for 5 layers"));
  EXPECT_TRUE(contains(failure(smolLM3, {"no_rope_layers=[1, 0, 2, 1, 1]"}), "expected a list of 0 and 1"));
  EXPECT_TRUE(contains(failure(smolLM3, {"no_rope_layers=[0, 1, 1, 1, 1]", "no_rope_layer_interval=2"}),
                       "'no_rope_layers' says that layer 0 has no rotary positions, but "
                       "'no_rope_layer_interval' the opposite; remove one of them"));
}

TEST(Phi3, codeThatWasPublishedWithIt) {
  ModelConfig config = read(R"({"model_type": "phi3", "auto_map": {"AutoModel": "modeling_phi3.X"}})");
  ASSERT_EQ(config.notes.size(), 1u);
  EXPECT_TRUE(contains(config.notes[0], "'auto_map' is ignored"));
  EXPECT_FALSE(contains(config.json, "auto_map"));
}

//===----------------------------------------------------------------------===//
// Quantised models
//===----------------------------------------------------------------------===//

TEST(Quantised, theConfigIsReadWithoutIt) {
  ModelConfig config =
      read(R"({"model_type": "llama", "quantization_config": {"quant_method": "gptq", "bits": 4}})");
  ASSERT_EQ(config.notes.size(), 1u);
  EXPECT_TRUE(contains(config.notes[0], "'quantization_config' (gptq) is ignored"));
  EXPECT_FALSE(contains(config.json, "quantization_config"));
}

} // namespace
