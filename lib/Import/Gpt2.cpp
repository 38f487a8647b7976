//===- Gpt2.cpp - GPT-2: learned positions, LayerNorm, fused QKV ----------------------------------------===//

#include "par/Import/Family.h"
#include "par/Import/LayerBuilder.h"

#include <cmath>

using namespace llvm;

namespace mlir::par {

/// Conv1D stores [in, out]. `ofResidual`: the residual stream sums 2·layers of them (GPT-2, section 2.3).
static LinearMap conv1D(LayerBuilder &layer, bool ofResidual) {
  double deviation = layer.getConfig().initializerRange;
  if (ofResidual)
    deviation /= std::sqrt(2.0 * layer.getConfig().countBlocks());
  return {/*bias=*/true, LinearMap::Order::InputFirst, deviation};
}

namespace {

/// Query, key and value are one projection; each query head has its own key and value.
class FusedAttention : public LayerPart {
public:
  int64_t heads = 0, headDim = 0;
  Scores scores;

  StringRef getName() const override { return "fused"; }

  Value build(LayerBuilder &layer, Value x) const override {
    layer.dimension('t', "qkv", 3);
    layer.dimension('h', "heads", heads);
    layer.dimension('d', "head_dim", headDim);
    int64_t b = layer.getBatch(), s = layer.getSeq(), h = heads, d = headDim;
    Value qkv = layer.linear("bse,thde->bsthd", x, "attn.c_attn", conv1D(layer, /*ofResidual=*/false));
    auto part = [&](int64_t t, ArrayRef<int64_t> shape) {
      return layer.reshape(layer.slice(qkv, {0, 0, t, 0, 0}, {b, s, 1, h, d}), shape);
    };
    layer.setPlace("attn");
    // Groups of one.
    Value q = part(0, {b, s, h, 1, d});
    Value k = part(1, {b, s, h, d}), v = part(2, {b, s, h, d});
    Value out = layer.reshape(layer.attention(q, k, v, layer.positions(), scores), {b, s, h, d});
    return layer.linear("bshd,hde->bse", out, "attn.c_proj", conv1D(layer, /*ofResidual=*/true));
  }

  void describe(KindDescription &kind) const override {
    const auto &[heads, headDim, scores] = *this;
    kind.number("num_attention_heads", heads);
    kind.number("num_key_value_heads", heads);
    kind.number("head_dim", headDim);
    kind.number("attention_bias", true);
    kind.number("attention_output_bias", true);
    scores.describe(kind);
  }
};

class PlainFeedForward : public LayerPart {
public:
  int64_t width = 0;
  Activation activation = Activation::GeluTanh;

  StringRef getName() const override { return "plain"; }

  Value build(LayerBuilder &layer, Value x) const override {
    layer.dimension('m', "mlp", width);
    x = layer.linear("bse,em->bsm", x, "mlp.c_fc", conv1D(layer, /*ofResidual=*/false));
    layer.setPlace("mlp.act");
    x = layer.activation(x, activation);
    return layer.linear("bsm,me->bse", x, "mlp.c_proj", conv1D(layer, /*ofResidual=*/true));
  }

  void describe(KindDescription &kind) const override {
    const auto &[width, activation] = *this;
    describeFeedForward(kind, width, activation, /*bias=*/true);
  }
};

} // namespace

static void readSizes(ConfigReader &reader, ModelConfig &config, int64_t &layers, FusedAttention &attention,
                      PlainFeedForward &feedForward) {
  // The names that every configuration class understands.
  reader.alias("n_positions", "max_position_embeddings");
  reader.alias("n_embd", "hidden_size");
  reader.alias("n_layer", "num_hidden_layers");
  reader.alias("n_head", "num_attention_heads");
  config.vocab = reader.size("vocab_size", 50257);
  config.maxPositions = reader.size("n_positions", 1024);
  config.hidden = reader.size("n_embd", 768);
  layers = reader.size("n_layer", 12, maxLayers);
  attention.heads = reader.size("n_head", 12);
  feedForward.width = reader.size("n_inner", 4 * config.hidden);
  if (config.hidden % attention.heads)
    reader.fail("n_head", "'n_head' is " + Twine(attention.heads) +
                              ", which does not divide 'n_embd' = " + Twine(config.hidden));
  attention.headDim = config.hidden / attention.heads;
}

static void readHarmless(ConfigReader &reader) {
  // Scores in f32, which par's are in any case. Its embedding has no row for padding.
  reader.harmless({"reorder_and_upcast_attn", "pad_token_id"});
  // `n_ctx` is a former name that Transformers no longer reads; the summary is
  // a head for other tasks; the rest is left over from older versions.
  reader.harmless({"n_ctx", "n_special", "output_past", "predict_special_tokens", "summary_activation",
                   "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"});
}

static void read(ConfigReader &reader, ModelConfig &config) {
  int64_t layers;
  FusedAttention attention;
  PlainFeedForward feedForward;
  readSizes(reader, config, layers, attention, feedForward);
  feedForward.activation = reader.activation("activation_function", "gelu_new");
  Norm norm{Norm::Type::Layer, reader.epsilon("layer_norm_epsilon", 1e-5)};
  config.initializerRange = reader.nonNegative("initializer_range", 0.02);
  HeadLayer head;
  head.normName = "ln_f";
  head.norm = norm;
  head.table = "wte";
  head.tied = reader.boolean("tie_word_embeddings", true);
  EmbeddingLayer embedding;
  embedding.table = "wte";
  embedding.positions = "wpe";
  embedding.dropout = reader.probability("embd_pdrop", 0.1);
  attention.scores.dropout = reader.probability("attn_pdrop", 0.1);
  BlockLayer block;
  block.attentionNorm = "ln_1";
  block.feedForwardNorm = "ln_2";
  block.norm = norm;
  block.dropout = reader.probability("resid_pdrop", 0.1);
  attention.scores.byHeadDim = reader.boolean("scale_attn_weights", true);
  attention.scores.byLayer = reader.boolean("scale_attn_by_inverse_layer_idx", false);
  readHarmless(reader);

  config.root = "transformer.";
  config.blocks = "h";
  config.addLayer(share(embedding));
  block.attention = share(attention);
  block.feedForward = share(feedForward);
  SharedPart same = share(block);
  for (int64_t i = 0; i < layers; ++i)
    config.addBlock(same);
  config.addLayer(share(head));
}

const Family gpt2Family = {"gpt2", read, "GPT2LMHeadModel"};

} // namespace mlir::par
