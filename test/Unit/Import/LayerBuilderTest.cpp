//===- LayerBuilderTest.cpp - what the words of layers declare ------------------------------------------===//
#include "par/Import/LayerBuilder.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// Words that declare, of a model with 8 features, 11 tokens and 16 positions.
class Declaring : public testing::Test {
protected:
  static ModelConfig makeConfig() {
    ModelConfig config;
    config.vocab = 11;
    config.maxPositions = 16;
    config.hidden = 8;
    config.initializerRange = 0.5;
    return config;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Parameter &parameter : layer.getDeclaration().parameters)
      result.push_back(parameter.local);
    return result;
  }
  const Parameter &last() const { return layer.getDeclaration().parameters.back(); }
  static std::vector<std::string> dimensions(const Parameter &parameter) {
    std::vector<std::string> result;
    for (const Dimension &dim : parameter.dims)
      result.push_back(dim.name + " " + std::to_string(dim.size));
    return result;
  }

  const ModelConfig config = makeConfig();
  LayerBuilder layer{config, /*training=*/true};
};

using Texts = std::vector<std::string>;
using Sizes = std::vector<int64_t>;

// The letters of a weight are its dimensions; a file has those of the output first.
TEST_F(Declaring, linearReadsAWeight) {
  layer.dimension('h', "kv_heads", 2);
  layer.dimension('g', "group", 3);
  layer.dimension('d', "head_dim", 4);
  layer.linear("bse,hgde->bshgd", {}, "q_proj");
  EXPECT_EQ(names(), Texts{"q_proj.weight"});
  EXPECT_EQ(dimensions(last()), (Texts{"kv_heads 2", "group 3", "head_dim 4", "embed 8"}));
  EXPECT_EQ(last().fileShape, (Sizes{24, 8}));
  EXPECT_EQ(last().permutation, (Sizes{0, 1, 2, 3}));
  EXPECT_EQ(last().init, InitKind::Normal);
  EXPECT_EQ(last().standardDeviation, 0.5);
  // What is summed over may come last.
  layer.linear("bshgd,ehgd->bse", {}, "o_proj");
  EXPECT_EQ(last().fileShape, (Sizes{8, 24}));
  EXPECT_EQ(layer.getDeclaration().width, 24);
}

// Conv1D stores what is summed over first, wherever the logical shape has it.
TEST_F(Declaring, linearOfTheOtherOrder) {
  layer.dimension('t', "qkv", 3);
  layer.dimension('h', "heads", 2);
  layer.linear("bse,the->bsth", {}, "c_attn", {/*bias=*/true, LinearMap::Order::InputFirst, 0.25});
  EXPECT_EQ(names(), (Texts{"c_attn.weight", "c_attn.bias"}));
  const Parameter &weight = layer.getDeclaration().parameters.front();
  EXPECT_EQ(weight.fileShape, (Sizes{8, 6}));
  EXPECT_EQ(weight.permutation, (Sizes{2, 0, 1}));
  EXPECT_EQ(weight.standardDeviation, 0.25);
  EXPECT_EQ(dimensions(last()), (Texts{"qkv 3", "heads 2"}));
  EXPECT_EQ(last().fileShape, Sizes{6});
  EXPECT_EQ(last().init, InitKind::Zeros);
}

// A norm reads what its type has.
TEST_F(Declaring, normsReadWhatTheyHave) {
  layer.norm({}, "a", {Norm::Type::Standardize, 1e-5});
  EXPECT_EQ(names(), Texts{});
  layer.norm({}, "b", {Norm::Type::Rms, 1e-5});
  EXPECT_EQ(names(), Texts{"b.weight"});
  EXPECT_EQ(last().init, InitKind::Ones);
  layer.norm({}, "c", {Norm::Type::Layer, 1e-5});
  EXPECT_EQ(names(), (Texts{"b.weight", "c.weight", "c.bias"}));
  EXPECT_EQ(last().init, InitKind::Zeros);
}

// A tensor that two words read is one; so is one of an earlier layer, which has its symbol.
TEST_F(Declaring, tensorsThatAreReadTwice) {
  layer.norm({}, "norm", Norm());
  layer.norm({}, "norm", Norm());
  EXPECT_EQ(names(), Texts{"norm.weight"});
  EXPECT_FALSE(last().shared);
  layer.shareTensor("lm_head.weight", "embed_tokens.weight");
  layer.linear("bse,ve->bsv", {}, "lm_head");
  EXPECT_TRUE(last().shared);
  EXPECT_EQ(last().symbol, "embed_tokens.weight");
  EXPECT_EQ(dimensions(last()), (Texts{"vocab 11", "embed 8"}));
}

// A table's rows are those of its first dimension, of which one may be for padding.
TEST_F(Declaring, embeddingReadsATable) {
  layer.embedding({}, "wpe", "pe");
  EXPECT_EQ(dimensions(last()), (Texts{"positions 16", "embed 8"}));
  EXPECT_FALSE(last().zeroRow);
  layer.embedding({}, "wte", "ve", 3);
  EXPECT_EQ(last().fileShape, (Sizes{11, 8}));
  EXPECT_EQ(last().zeroRow, 3);
}

// Dropout reads key and row, and in a block the layer's number; without it nothing is read.
TEST_F(Declaring, dropoutReadsKeyAndNumber) {
  layer.dropout({}, 0.0, DropoutSlot::Mlp);
  EXPECT_FALSE(layer.getDeclaration().dropout || layer.getDeclaration().index);
  layer.dropout({}, 0.1);
  EXPECT_TRUE(layer.getDeclaration().dropout);
  EXPECT_FALSE(layer.getDeclaration().index);
  layer.dropout({}, 0.1, DropoutSlot::Mlp);
  EXPECT_TRUE(layer.getDeclaration().index);
}

// Scores that are divided by the layer read its number, in evaluation, too; what they drop is training's.
TEST_F(Declaring, attentionReadsWhatItsScoresNeed) {
  Scores scores;
  scores.dropout = 0.1;
  LayerBuilder evaluation(config, /*training=*/false);
  for (LayerBuilder *words : {&layer, &evaluation}) {
    words->dimension('h', "heads", 5);
    words->dimension('d', "head_dim", 4);
    words->attention({}, {}, {}, {}, scores);
  }
  EXPECT_TRUE(layer.getDeclaration().dropout && layer.getDeclaration().index);
  EXPECT_FALSE(evaluation.getDeclaration().dropout || evaluation.getDeclaration().index);
  EXPECT_EQ(layer.getDeclaration().heads, 5);
  EXPECT_EQ(layer.getDeclaration().width, 60);
  scores.byLayer = true;
  evaluation.attention({}, {}, {}, {}, scores);
  EXPECT_TRUE(evaluation.getDeclaration().index);
  EXPECT_FALSE(evaluation.getDeclaration().dropout);
}

// The loss reads targets, logits do not.
TEST_F(Declaring, outputReadsTargetsInTraining) {
  layer.output({});
  EXPECT_TRUE(layer.getDeclaration().targets);
  LayerBuilder evaluation(config, /*training=*/false);
  evaluation.output({});
  EXPECT_FALSE(evaluation.getDeclaration().targets);
}

} // namespace
