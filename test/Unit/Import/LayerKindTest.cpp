//===- LayerKindTest.cpp - which layers are one function, and a family of one's own ---------------------===//
#include "TemporaryConfig.h"
#include "par/Import/Family.h"
#include "par/Import/Import.h"
#include "par/Import/LayerFunctions.h"
#include "par/Import/ModelNumbers.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A feed-forward of one matrix, which says of itself what a test wants.
class SquareFeedForward : public LayerPart {
public:
  /// Two of the numbers that it may have.
  std::optional<double> size, temperature;

  StringRef getName() const override { return "square"; }
  Value build(LayerBuilder &layer, Value x) const override {
    layer.dimension('m', "mlp", layer.getConfig().hidden);
    return layer.linear("bse,me->bsm", x, "mlp.square");
  }
  void describe(KindDescription &kind) const override {
    const auto &[size, temperature] = *this;
    if (size)
      kind.number("size", *size);
    if (temperature)
      kind.number("temperature", *temperature);
  }
};

/// A decoder of 8 features that `change` makes of several kinds.
ModelConfig makeModel(int64_t layers, llvm::function_ref<void(int64_t, BlockLayer &)> change) {
  ModelConfig config;
  config.modelType = "toy";
  config.vocab = 11;
  config.maxPositions = 16;
  config.hidden = 8;
  RotaryDecoder decoder;
  decoder.layers = layers;
  decoder.attention.heads = decoder.attention.kvHeads = 2;
  decoder.attention.headDim = 4;
  decoder.feedForward.width = 12;
  decoder.addLayers(config, change);
  return config;
}

SharedPart attentionWithWindow(int64_t window) {
  GroupedAttention attention;
  attention.heads = attention.kvHeads = 2;
  attention.headDim = 4;
  attention.scores.window = window;
  return share(attention);
}

SharedPart square(std::optional<double> size = {}, std::optional<double> temperature = {}) {
  SquareFeedForward feedForward;
  feedForward.size = size;
  feedForward.temperature = temperature;
  return share(feedForward);
}

std::vector<std::string> names(const ModelConfig &config) {
  std::vector<std::string> result;
  for (const LayerFunction &function : findLayerFunctions(config).functions)
    result.push_back(function.name);
  return result;
}

using Texts = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

// Layers that are made one by one and compute the same are one function.
TEST(LayerKind, equalKindsAreOneFunction) {
  ModelConfig config =
      makeModel(4, [](int64_t, BlockLayer &block) { block.attention = attentionWithWindow(4); });
  EXPECT_EQ(names(config), (Texts{"embed", "block", "head"}));
  EXPECT_EQ(findLayerFunctions(config).ofLayer, (std::vector<size_t>{0, 1, 1, 1, 1, 2}));
}

// Two kinds that alternate are two functions, and each layer calls its own.
TEST(LayerKind, kindsThatAlternateAreTwoFunctions) {
  ModelConfig config = makeModel(
      5, [](int64_t i, BlockLayer &block) { block.attention = attentionWithWindow(i % 2 ? 0 : 4); });
  EXPECT_EQ(names(config), (Texts{"embed", "block", "block.full", "head"}));
  EXPECT_EQ(findLayerFunctions(config).ofLayer, (std::vector<size_t>{0, 1, 2, 1, 2, 1, 3}));
}

// A name says all that differs from the first layer: a part's class, and numbers by their words, else keys.
TEST(LayerKind, whatDiffersIsNamed) {
  ModelConfig config = makeModel(5, [](int64_t i, BlockLayer &block) {
    if (i == 1 || i == 4)
      block.feedForward = square();
    if (i >= 2)
      block.attention = attentionWithWindow(i == 2 ? 4 : 8);
    if (i == 4)
      block.norm.epsilon = 0.5;
  });
  EXPECT_EQ(names(config), (Texts{"embed", "block", "block.square", "block.window4", "block.window8",
                                  "block.norm_eps0.5.window8.square", "head"}));
}

// Kinds that the first one says nothing about have names of their own, too.
TEST(LayerKind, namesAreDistinct) {
  ModelConfig config = makeModel(3, [](int64_t i, BlockLayer &block) {
    if (i > 0)
      block.feedForward = square(double(i));
  });
  EXPECT_EQ(names(config), (Texts{"embed", "block", "block.square", "block.square.kind3", "head"}));
}

// What only training computes tells kinds apart as well.
TEST(LayerKind, dropoutIsPartOfAKind) {
  ModelConfig config = makeModel(2, [](int64_t i, BlockLayer &block) { block.dropout = i ? 0.25 : 0.5; });
  EXPECT_EQ(names(config), (Texts{"embed", "block", "block.residual_dropout0.25", "head"}));
  LayerFunctions functions = findLayerFunctions(config);
  EXPECT_EQ(functions.functions[1].getName(/*isTraining=*/false), "block.eval");
  EXPECT_EQ(functions.functions[0].getName(/*isTraining=*/false), "embed");
  EXPECT_EQ(functions.functions[3].getName(/*isTraining=*/false), "head.logits");
}

//===----------------------------------------------------------------------===//
// Parameters and numbers
//===----------------------------------------------------------------------===//

// Kinds may have different tensors.
TEST(LayerKind, parametersFollowTheKind) {
  ModelConfig config = makeModel(3, [](int64_t i, BlockLayer &block) {
    if (i == 1)
      block.feedForward = square();
  });
  ModelParameters parameters = modelParameters(config);
  EXPECT_EQ(parameters.layers[1].size(), 9u);
  EXPECT_EQ(parameters.layers[2].size(), 7u);
  EXPECT_EQ(parameters.layers[2].back().symbol, "layers.1.mlp.square.weight");
  EXPECT_EQ(parameters.layers[2].back().fileName, "model.layers.1.mlp.square.weight");
  // Embedding 88, attention and norms of a block 272, feed-forwards 288 and 64, head 8 + 88.
  EXPECT_EQ(parameters.elements(), 88 + 3 * 272 + 2 * 288 + 64 + 96);
}

std::string printNumber(const ModelConfig &config, StringRef key) {
  MLIRContext context;
  Attribute number = describeNumbers(&context, config).get(key);
  std::string text;
  llvm::raw_string_ostream stream(text);
  number ? number.print(stream) : void(stream << "absent");
  return text;
}

// What layers agree about is said once, else by layer; a layer that has no such number says so.
TEST(LayerKind, numbersAreSaidOnceOrByLayer) {
  ModelConfig config = makeModel(3, [](int64_t i, BlockLayer &block) {
    block.attention = attentionWithWindow(i == 1 ? 4 : 0);
    if (i == 2)
      block.feedForward = square({}, 0.5);
  });
  EXPECT_EQ(printNumber(config, "num_hidden_layers"), "3 : i64");
  EXPECT_EQ(printNumber(config, "head_dim"), "4 : i64");
  EXPECT_EQ(printNumber(config, "sliding_window"), "[0, 4, 0]");
  EXPECT_EQ(printNumber(config, "temperature"), R"(["none", "none", 5.000000e-01])");
  EXPECT_EQ(printNumber(config, "residual_dropout"), "absent");
}

// A head that is not as the blocks are does not hide behind their number.
TEST(LayerKind, numbersOfTheHead) {
  ModelConfig config = makeModel(2, [](int64_t, BlockLayer &) {});
  EXPECT_EQ(printNumber(config, "norm_eps"), "9.9999999999999995E-7 : f64");
  EXPECT_EQ(printNumber(config, "head.norm_eps"), "absent");
  HeadLayer head;
  head.norm.epsilon = 0.5;
  config.layers.back().kind = share(head);
  EXPECT_EQ(printNumber(config, "norm_eps"), "9.9999999999999995E-7 : f64");
  EXPECT_EQ(printNumber(config, "head.norm_eps"), "5.000000e-01 : f64");
}

//===----------------------------------------------------------------------===//
// A family of one's own
//===----------------------------------------------------------------------===//

/// Every second layer has the square feed-forward.
void readToy(ConfigReader &reader, ModelConfig &config) {
  config.vocab = 11;
  config.maxPositions = 16;
  config.hidden = 8;
  RotaryDecoder decoder;
  decoder.layers = 4;
  decoder.attention.heads = 2;
  decoder.feedForward.width = 12;
  decoder.read(reader, config);
  double temperature = reader.positive("temperature", 1.0);
  decoder.addLayers(config, [&](int64_t i, BlockLayer &block) {
    if (i % 2)
      block.feedForward = square({}, temperature);
  });
}

// A family that is registered is imported as par's own are, and one name is one family.
TEST(LayerKind, aRegisteredFamilyIsImported) {
  static const Family toy = {"toy", readToy};
  static const Family other = {"llama", readToy};
  EXPECT_TRUE(registerFamily(toy));
  EXPECT_FALSE(registerFamily(toy));
  EXPECT_FALSE(registerFamily(other));
  EXPECT_EQ(families().back()->modelType, "toy");

  TemporaryConfig file(R"({"model_type": "toy", "temperature": 2})");
  MLIRContext context;
  ImportOptions options;
  options.model = file.str();
  OwningOpRef<ModuleOp> module = importModel(context, options);
  ASSERT_TRUE(module);
  Texts functions, calls;
  for (auto function : module->getOps<func::FuncOp>())
    functions.push_back(function.getName().str());
  module->lookupSymbol<func::FuncOp>("forward").walk(
      [&](CallOp call) { calls.push_back(call.getCallee().str()); });
  EXPECT_EQ(functions, (Texts{"embed", "block", "block.square", "head", "head.logits", "forward", "logits"}));
  EXPECT_EQ(calls, (Texts{"embed", "block", "block.square", "block", "block.square", "head"}));
}

} // namespace
