//===- ModelConfigTest.cpp - how a config.json is understood --------------------------------------------===//

#include "ReadConfig.h"

using namespace mlir::par;

namespace {

constexpr const char *tinyLlama =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 8, "intermediate_size": 96, "vocab_size": 100})";

//===----------------------------------------------------------------------===//
// What absent and alternative keys mean
//===----------------------------------------------------------------------===//

TEST(ModelConfig, gpt2Defaults) {
  ModelConfig config = read(R"({"model_type": "gpt2"})");
  EXPECT_EQ(config.vocab, 50257);
  EXPECT_EQ(config.hidden, 768);
  EXPECT_EQ(size(config, "intermediate_size"), 4 * 768);
  EXPECT_EQ(size(config, "head_dim"), 64);
  EXPECT_TRUE(flag(config, "tie_word_embeddings"));
  EXPECT_EQ(label(config, "hidden_act"), "gelu_tanh");
  EXPECT_EQ(real(config, "residual_dropout"), 0.1);
  EXPECT_FALSE(find(config.layers, "rope_theta"));
}

TEST(ModelConfig, gpt2WidthNullIsFourTimesHidden) {
  EXPECT_EQ(size(read(R"({"model_type": "gpt2", "n_embd": 24, "n_inner": null})"), "intermediate_size"), 96);
  EXPECT_EQ(size(read(R"({"model_type": "gpt2", "n_inner": 100})"), "intermediate_size"), 100);
}

TEST(ModelConfig, gpt2UnderstandsCommonNames) {
  ModelConfig config = read(
      R"({"model_type": "gpt2", "hidden_size": 48, "num_attention_heads": 6,
          "num_hidden_layers": 3, "max_position_embeddings": 99})");
  EXPECT_EQ(config.hidden, 48);
  EXPECT_EQ(size(config, "num_attention_heads"), 6);
  EXPECT_EQ(config.countBlocks(), 3);
  EXPECT_EQ(config.maxPositions, 99);
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "n_embd": 48,
                        "hidden_size": 60})"),
            "2:25: 'hidden_size' is 60 but its synonym 'n_embd' is 48; remove "
            "one of them");
}

TEST(ModelConfig, llamaDefaults) {
  ModelConfig config = read(R"({"model_type": "llama"})");
  EXPECT_EQ(size(config, "num_key_value_heads"), 32);
  EXPECT_EQ(size(config, "head_dim"), 128);
  EXPECT_FALSE(flag(config, "tie_word_embeddings"));
  EXPECT_EQ(real(config, "norm_eps"), 1e-6);
  EXPECT_EQ(real(config, "rope_theta"), 10000.0);
  EXPECT_FALSE(flag(config, "attention_bias"));
}

TEST(ModelConfig, llamaBiasesAreSeparate) {
  ModelConfig config = read(tinyLlama, {"attention_bias=true"});
  EXPECT_TRUE(flag(config, "attention_bias") && flag(config, "attention_output_bias"));
  EXPECT_FALSE(flag(config, "mlp_bias"));
  config = read(tinyLlama, {"mlp_bias=true"});
  EXPECT_FALSE(flag(config, "attention_bias") || flag(config, "attention_output_bias"));
  EXPECT_TRUE(flag(config, "mlp_bias"));
}

TEST(ModelConfig, headDimensionOfItsOwn) {
  EXPECT_EQ(size(read(tinyLlama, {"head_dim=16"}), "head_dim"), 16);
  EXPECT_EQ(size(read(tinyLlama, {"head_dim=null"}), "head_dim"), 8);
  // Then the heads need not divide the hidden size.
  EXPECT_EQ(size(read(tinyLlama, {"head_dim=16", "hidden_size=60"}), "head_dim"), 16);
}

TEST(ModelConfig, dynamicRotaryIsTheDefaultUpToTheLongestSequence) {
  for (const char *text : {R"(rope_scaling={"type": "dynamic", "factor": 2.0})",
                           R"(rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0,
                              "original_max_position_embeddings": 1024})"}) {
    ModelConfig config = read(tinyLlama, {text});
    EXPECT_EQ(label(config, "rope_scaling"), "none") << text;
    EXPECT_EQ(real(config, "rope_theta"), 10000.0) << text;
  }
}

TEST(ModelConfig, rotaryAsTransformers4WritesIt) {
  ModelConfig config = read(tinyLlama, {"rope_theta=500000.0",
                                        R"(rope_scaling={"type": "llama3", "factor": 8.0,
                "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192})"});
  EXPECT_EQ(real(config, "rope_theta"), 500000.0);
  EXPECT_EQ(label(config, "rope_scaling"), "llama3");
  EXPECT_EQ(real(config, "rope_factor"), 8.0);
  EXPECT_EQ(real(config, "rope_original_positions"), 8192.0);
}

TEST(ModelConfig, rotaryAsTransformers5WritesIt) {
  ModelConfig config = read(tinyLlama, {R"(rope_parameters={"rope_theta": 7, "factor": 2,
          "rope_type": "linear", "partial_rotary_factor": 1})"});
  EXPECT_EQ(real(config, "rope_theta"), 7.0);
  EXPECT_EQ(label(config, "rope_scaling"), "linear");
  EXPECT_EQ(real(config, "rope_factor"), 2.0);
}

TEST(ModelConfig, rotaryPrecedence) {
  // θ in the dictionary beats the top level; rope_scaling beats parameters.
  EXPECT_EQ(real(read(tinyLlama, {"rope_theta=3", R"(rope_parameters={"rope_theta":
                              5, "rope_type": "default"})"}),
                 "rope_theta"),
            5.0);
  const char *linear = R"(rope_scaling={"type": "linear", "factor": 2})";
  const char *modern = R"(rope_parameters={"rope_theta": 5})";
  ModelConfig config = read(tinyLlama, {linear, modern});
  EXPECT_EQ(real(config, "rope_theta"), 10000.0);
  EXPECT_EQ(label(config, "rope_scaling"), "linear");
  EXPECT_EQ(real(read(tinyLlama, {"rope_scaling={}", modern}), "rope_theta"), 5.0);
  EXPECT_EQ(real(read(tinyLlama, {"rope_scaling=null", modern}), "rope_theta"), 5.0);
}

TEST(ModelConfig, llama3ScalingOfAbsentOriginalLengthUsesTheMaximum) {
  EXPECT_EQ(real(read(tinyLlama, {"max_position_embeddings=777",
                                  R"(rope_scaling={"rope_type": "llama3", "factor": 8,
               "low_freq_factor": 1, "high_freq_factor": 4})"}),
                 "rope_original_positions"),
            777.0);
}

TEST(ModelConfig, inverseFrequencies) {
  Rotary rotary;
  std::vector<double> plain = inverseFrequencies(rotary, 8);
  ASSERT_EQ(plain.size(), 4u);
  EXPECT_NEAR(plain[0], 1.0, 1e-15);
  EXPECT_NEAR(plain[1], 0.1, 1e-15);
  EXPECT_NEAR(plain[3], 0.001, 1e-15);
  rotary.scaling = Rotary::Scaling::Linear;
  rotary.factor = 4.0;
  EXPECT_NEAR(inverseFrequencies(rotary, 8)[1], 0.025, 1e-15);

  // L/λ = 32·f/2π = 5.09, 0.509, 0.0509, …: kept, scaled, scaled. With
  // low = 0.3 the second lies between: s = (0.5093 − 0.3) / 3.7 = 0.05657.
  rotary = {10000.0, Rotary::Scaling::Llama3, 8.0, 1.0, 4.0, 32.0};
  std::vector<double> scaled = inverseFrequencies(rotary, 8);
  EXPECT_NEAR(scaled[0], 1.0, 1e-15);
  EXPECT_NEAR(scaled[1], 0.1 / 8, 1e-15);
  EXPECT_NEAR(scaled[2], 0.01 / 8, 1e-15);
  rotary.lowFrequencyFactor = 0.3;
  EXPECT_NEAR(inverseFrequencies(rotary, 8)[1], 0.1 * (0.05656644 + (1 - 0.05656644) / 8), 1e-8);
}

TEST(ModelConfig, mistralWindow) {
  const char *text = R"({"model_type": "mistral", "num_hidden_layers": 2})";
  EXPECT_EQ(windows(read(text)), (std::vector<int64_t>{4096, 4096}));
  EXPECT_EQ(windows(read(text, {"sliding_window=null"})), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(windows(read(text, {"sliding_window=16"})), (std::vector<int64_t>{16, 16}));
  EXPECT_EQ(size(read(text), "num_key_value_heads"), 8);
  EXPECT_EQ(size(read(text, {"num_key_value_heads=null"}), "num_key_value_heads"), 32);
}

TEST(ModelConfig, qwen2Windows) {
  const char *text =
      R"({"model_type": "qwen2", "num_hidden_layers": 3, "sliding_window": 16,
          "max_window_layers": 1})";
  EXPECT_EQ(windows(read(text)), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(windows(read(text, {"use_sliding_window=true"})), (std::vector<int64_t>{0, 16, 16}));
  EXPECT_EQ(windows(read(text, {"use_sliding_window=true", "max_window_layers=1.5"})),
            (std::vector<int64_t>{0, 0, 16}));
  EXPECT_EQ(windows(read(text, {"use_sliding_window=true", "max_window_layers=1e308"})),
            (std::vector<int64_t>{0, 0, 0}));
  const char *types = R"(layer_types=["sliding_attention", "full_attention",
                                      "full_attention"])";
  EXPECT_EQ(windows(read(text, {"use_sliding_window=true", "max_window_layers=28", types})),
            (std::vector<int64_t>{16, 0, 0}));
  ModelConfig config = read(text);
  EXPECT_TRUE(flag(config, "attention_bias"));
  EXPECT_FALSE(flag(config, "attention_output_bias") || flag(config, "mlp_bias") ||
               flag(config, "tie_word_embeddings"));
}

TEST(ModelConfig, activations) {
  const char *text = R"({"model_type": "gpt2"})";
  EXPECT_EQ(label(read(text, {"activation_function=gelu"}), "hidden_act"), "gelu");
  EXPECT_EQ(label(read(text, {"activation_function=gelu_pytorch_tanh"}), "hidden_act"), "gelu_tanh");
  EXPECT_EQ(label(read(text, {"activation_function=relu"}), "hidden_act"), "relu");
  EXPECT_EQ(label(read(text, {"activation_function=swish"}), "hidden_act"), "silu");
}

TEST(ModelConfig, keysThatDoNotMatterAreAccepted) {
  read(tinyLlama, {"torch_dtype=bfloat16", "use_cache=false"});
  read(tinyLlama, {"dtype=float32", "pad_token_id=null"});
  read(R"({"model_type": "llama", "pretraining_tp": 1, "_name_or_path": "x",
           "some_new_key": null, "sliding_window": null})");
  read(tinyLlama, {"pretraining_tp=2"});
  read(R"({"model_type": "gpt2", "reorder_and_upcast_attn": true, "pad_token_id": 60000})");
}

TEST(ModelConfig, scaleOfScores) {
  const char *text = R"({"model_type": "gpt2"})";
  EXPECT_TRUE(flag(read(text), "scale_attn_weights"));
  EXPECT_FALSE(flag(read(text), "scale_attn_by_inverse_layer_idx"));
  EXPECT_FALSE(flag(read(text, {"scale_attn_weights=false"}), "scale_attn_weights"));
  EXPECT_TRUE(flag(read(text, {"scale_attn_by_inverse_layer_idx=true"}), "scale_attn_by_inverse_layer_idx"));
}

TEST(ModelConfig, normsWithoutEpsilon) {
  // Too little to change a number, enough for rows of zeros.
  double epsilon = real(read(tinyLlama, {"rms_norm_eps=0"}), "norm_eps");
  EXPECT_GT(epsilon, 0.0);
  EXPECT_LT(epsilon, 1e-37);
  EXPECT_GT(static_cast<float>(epsilon), 0.0f);
  EXPECT_EQ(real(read(R"({"model_type": "gpt2", "layer_norm_epsilon": 0})"), "norm_eps"), epsilon);
}

TEST(ModelConfig, rowOfPadding) {
  EXPECT_FALSE(paddingToken(read(tinyLlama)));
  EXPECT_EQ(paddingToken(read(tinyLlama, {"pad_token_id=0"})), 0);
  EXPECT_EQ(paddingToken(read(tinyLlama, {"pad_token_id=99"})), 99);
  // As of `torch.nn.Embedding`, from the end.
  EXPECT_EQ(paddingToken(read(tinyLlama, {"pad_token_id=-1"})), 99);
  EXPECT_EQ(paddingToken(read(tinyLlama, {"pad_token_id=-100"})), 0);
  for (const char *family : {"mistral", "olmo", "qwen2"})
    EXPECT_EQ(
        paddingToken(read(R"({"vocab_size": 100})", {std::string("model_type=") + family, "pad_token_id=7"})),
        7);
  EXPECT_FALSE(paddingToken(read(R"({"model_type": "gpt2", "pad_token_id": 7})")));
  // OLMo has one unless it is null.
  const char *olmo = R"({"model_type": "olmo", "vocab_size": 100})";
  EXPECT_EQ(paddingToken(read(olmo)), 1);
  EXPECT_FALSE(paddingToken(read(olmo, {"pad_token_id=null"})));
  EXPECT_EQ(failure(olmo, {"vocab_size=1"}),
            "'pad_token_id' is 1, expected null or an integer from -1 to 0, a row of the embedding; "
            "--set pad_token_id=null imports without it");
}

TEST(ModelConfig, olmoNorms) {
  ModelConfig config = read(R"({"model_type": "olmo"})");
  EXPECT_EQ(label(config, "norm"), "standardize");
  EXPECT_EQ(real(config, "norm_eps"), 1e-5);
  EXPECT_EQ(config.vocab, 50304);
  EXPECT_EQ(size(config, "num_key_value_heads"), 32);
  EXPECT_FALSE(flag(config, "attention_bias") || flag(config, "attention_output_bias") ||
               flag(config, "mlp_bias") || flag(config, "tie_word_embeddings"));
  ModelConfig biased = read(R"({"model_type": "olmo", "attention_bias": true})");
  EXPECT_TRUE(flag(biased, "attention_bias") && flag(biased, "attention_output_bias") &&
              !flag(biased, "mlp_bias"));
  EXPECT_EQ(label(read(tinyLlama), "norm"), "rms");
  EXPECT_EQ(label(read(R"({"model_type": "gpt2"})"), "norm"), "layer");
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(ModelConfigErrors, malformedText) {
  EXPECT_EQ(failure(""), "the file is empty; expected a JSON object");
  EXPECT_EQ(failure("[1]"), "expected a JSON object with keys such as model_type");
  EXPECT_EQ(failure("{\n \"n_embd\": "), "2:11: not valid JSON: Unexpected EOF; the file is truncated or is "
                                         "no config.json");
  EXPECT_NE(failure("\xff\xfe").find("not valid JSON"), std::string::npos);
  EXPECT_EQ(failure(std::string(100000, '[')),
            "brackets nest deeper than 64 levels, which no config.json does");
}

TEST(ModelConfigErrors, missingFiles) {
  auto missing = loadModelConfig("/nonexistent/config.json");
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "/nonexistent/config.json: cannot read the model: No such file or "
            "directory; expected a config.json or a folder that holds one");
  auto folder = loadModelConfig("/");
  EXPECT_EQ(llvm::toString(folder.takeError()),
            "/: the folder has no readable config.json; give a Hugging Face "
            "model's folder or its config.json");
  auto device = loadModelConfig("/dev/zero");
  EXPECT_EQ(llvm::toString(device.takeError()), "/dev/zero: is not a regular file");
}

TEST(ModelConfigErrors, modelType) {
  const std::string known =
      "supported are gemma2, gemma3, gemma3_text, gpt2, llama, mistral, olmo, olmo2, olmo3, "
      "phi3, qwen2, qwen3, smollm3";
  EXPECT_EQ(failure(R"({"vocab_size": 3})"), "the key 'model_type' is missing; " + known);
  EXPECT_EQ(failure(R"({"model_type": "bert"})"),
            "1:2: 'model_type' is \"bert\", which is not supported; " + known);
  EXPECT_EQ(failure(R"({"model_type": 3})"), "1:2: 'model_type' is 3, expected a string; " + known);
}

TEST(ModelConfigErrors, types) {
  EXPECT_EQ(failure(tinyLlama, {"vocab_size=many"}),
            "--set vocab_size=many: 'vocab_size' is \"many\", expected an "
            "integer from 1 to 2147483647");
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "n_layer": 2.5})"),
            "1:24: 'n_layer' is 2.5, expected an integer from 1 to 1024");
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "n_layer": true})"),
            "1:24: 'n_layer' is true, expected an integer from 1 to 1024");
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "attn_pdrop": 1})"),
            "1:24: 'attn_pdrop' is 1, expected a probability of at least 0, "
            "below 1");
  EXPECT_EQ(failure(tinyLlama, {"mlp_bias=1"}), "--set mlp_bias=1: 'mlp_bias' is 1, expected true or false");
  EXPECT_EQ(failure(tinyLlama, {"rms_norm_eps=-1e-6"}),
            "--set rms_norm_eps=-1e-6: 'rms_norm_eps' is -9.9999999999999995e-07, expected a number of at "
            "least 0");
  for (const char *id : {"100", "-101", "7.5", "true"})
    EXPECT_EQ(failure(tinyLlama, {std::string("pad_token_id=") + id}),
              std::string("--set pad_token_id=") + id + ": 'pad_token_id' is " + id +
                  ", expected null or an integer from -100 to 99, a row of the embedding; --set "
                  "pad_token_id=null imports without it");
  EXPECT_EQ(failure(tinyLlama, {"rope_scaling=3"}),
            "--set rope_scaling=3: 'rope_scaling' is 3, expected a dictionary");
  EXPECT_EQ(failure(tinyLlama, {"hidden_size=1e300"}),
            "--set hidden_size=1e300: 'hidden_size' is 1.0000000000000001e+300"
            ", expected an integer from 1 to 2147483647");
}

TEST(ModelConfigErrors, impossibleSizes) {
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "n_head": 5})"),
            "1:24: 'n_head' is 5, which does not divide 'n_embd' = 768");
  EXPECT_EQ(failure(tinyLlama, {"num_key_value_heads=3"}),
            "--set num_key_value_heads=3: 'num_key_value_heads' is 3, which "
            "does not divide 'num_attention_heads' = 8");
  EXPECT_EQ(failure(tinyLlama, {"hidden_size=60"}), "2:9: 'num_attention_heads' is 8, which does not divide "
                                                    "'hidden_size' = 60, and 'head_dim' is absent");
  EXPECT_EQ(failure(tinyLlama, {"head_dim=7"}), "--set head_dim=7: the head dimension is 7, expected an even "
                                                "number: rotary positions rotate pairs");
  EXPECT_EQ(failure(tinyLlama, {"vocab_size=2000000000", "hidden_size=2000000000"}),
            "the sizes make a layer of more than 2^39 elements, which is more "
            "than can be addressed");
}

TEST(ModelConfigErrors, keysThatChangeTheMathematics) {
  EXPECT_EQ(failure(R"({"model_type": "gpt2",
 "add_cross_attention": true})"),
            "2:2: 'add_cross_attention' is true, which adds cross-attention layers; supported is only false");
  for (const char *text :
       {"sliding_window=16", R"(pruned_heads={"0": [1]})", R"(auto_map={"AutoModel": "x.Y"})"})
    EXPECT_NE(failure(tinyLlama, {text}).find("a model without it"), std::string::npos) << text;
  EXPECT_EQ(failure(tinyLlama, {"hidden_act=tanh"}),
            "--set hidden_act=tanh: 'hidden_act' is \"tanh\", which is not "
            "supported; supported are gelu, gelu_new, gelu_pytorch_tanh, "
            "gelu_fast, relu, silu and swish");
}

TEST(ModelConfigErrors, rotary) {
  EXPECT_EQ(failure(R"({"model_type": "llama",
 "rope_scaling": {"rope_type": "su", "factor": 2}})"),
            "2:2: the rotary scaling (rope_type) is \"su\", which is not "
            "supported; supported are default, linear, dynamic, llama3 and yarn");
  EXPECT_NE(
      failure(tinyLlama, {R"(rope_scaling={"type": "linear"})"}).find("'rope_scaling.factor' is missing"),
      std::string::npos);
  EXPECT_NE(failure(tinyLlama, {R"(rope_scaling={"rope_type": "dynamic"})"})
                .find("'rope_scaling.factor' is missing"),
            std::string::npos);
  EXPECT_NE(failure(tinyLlama, {R"(rope_parameters={"rope_theta": 5,
                     "factor": 2})"})
                .find("'rope_parameters.factor' is 2, an unknown key"),
            std::string::npos);
  EXPECT_NE(failure(tinyLlama, {R"(rope_scaling={"rope_type": "llama3", "factor": 8,
               "low_freq_factor": 4, "high_freq_factor": 4})"})
                .find("must exceed"),
            std::string::npos);
}

TEST(ModelConfigErrors, unknownKeys) {
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "n_layers": 3})"),
            "1:24: 'n_layers' is 3, an unknown key, which may change what gpt2 "
            "computes; did you mean 'n_layer'?; --set n_layers=null imports "
            "without it");
  EXPECT_EQ(failure(tinyLlama, {"num_hiden_layers=3"}),
            "--set num_hiden_layers=3: llama has no key 'num_hiden_layers'; "
            "did you mean 'num_hidden_layers'?");
  EXPECT_EQ(failure(tinyLlama, {"zzzzzzzzzzzzzz=null"}),
            "--set zzzzzzzzzzzzzz=null: llama has no key 'zzzzzzzzzzzzzz'");
  // The remedy that the message names.
  read(R"({"model_type": "gpt2", "n_layers": 3})", {"n_layers=null"});
}

TEST(ModelConfig, notesOfOtherTools) {
  // Sorted, those of dictionaries after the dictionary's name; known ones are no news, null is absent.
  ModelConfig config = read(R"({"model_type": "llama", "_tool": {"a": 1}, "my.key": 2, "_name_or_path": "x",
      "_none": null, "rope_parameters": {"rope_type": "default", "_by": "hand"}})");
  EXPECT_EQ(config.ignoredKeys, (std::vector<std::string>{"_tool", "my.key", "rope_parameters._by"}));
  EXPECT_TRUE(read(tinyLlama).ignoredKeys.empty());
  // An override asks for an effect.
  EXPECT_EQ(failure(tinyLlama, {"_comment=x"}).find("--set _comment=x: llama has no key '_comment'"), 0u);
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "a.b": 1})", {"a.b=2"})
                .find("--set a.b=2: 'a.b' is 2, an unknown key"),
            0u);
  // One underscore or dot does not excuse the others.
  EXPECT_EQ(failure(R"({"_x": 1, "model_type": "gpt2", "n_layers": 3})").find("1:33: 'n_layers' is 3"), 0u);
  EXPECT_EQ(failure(R"({"model_type": "gpt2", "n_": 3})").find("1:24: 'n_' is 3"), 0u);
}

TEST(ModelConfigErrors, overrides) {
  EXPECT_EQ(failure(tinyLlama, {"vocab_size"}), "--set vocab_size: expected key=value");
  EXPECT_EQ(failure(tinyLlama, {"=3"}), "--set =3: expected key=value");
  EXPECT_EQ(failure(tinyLlama, {"vocab_size=7", "vocab_size=8"}),
            "--set vocab_size=8: --set vocab_size=7 is given, too; give one of them");
  EXPECT_EQ(label(read(tinyLlama, {"hidden_act=gelu"}), "hidden_act"), "gelu");
}

TEST(ModelConfigErrors, qwen2LayerTypes) {
  const char *text = R"({"model_type": "qwen2", "num_hidden_layers": 2})";
  EXPECT_NE(failure(text, {R"(layer_types=["full_attention"])"}).find("has 1 entries for 2 layers"),
            std::string::npos);
  EXPECT_NE(failure(text, {R"(layer_types=["full_attention", "linear"])"})
                .find("\"linear\", which is not supported"),
            std::string::npos);
  EXPECT_NE(
      failure(text, {R"(layer_types=["sliding_attention", "full_attention"])", "max_window_layers=1",
                     "use_sliding_window=true"})
          .find("'layer_types' says that layer 0 has sliding_attention, but 'max_window_layers' that it "
                "has full_attention; remove one of them"),
      std::string::npos);
}

} // namespace
