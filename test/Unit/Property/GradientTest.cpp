//===- GradientTest.cpp - every derivative against finite differences in f64 ----------------------------===//
#include "GraphWriter.h"
#include "TestContext.h"
#include "TrainingCase.h"
#include "mlir/Parser/Parser.h"
#include "par/Import/Import.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::test;

namespace {

struct OpCase {
  const char *name;
  void (*write)(GraphWriter &);
};

class GradientTest : public ::testing::TestWithParam<OpCase> {
protected:
  TestContext context;
};

TEST_P(GradientTest, agreesWithDifferences) {
  GraphWriter writer("<[\"a\"=2]>");
  GetParam().write(writer);
  std::string text = writer.finish();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  TrainingCase test(context, std::move(module), 7);
  EXPECT_EQ(checkGradients(test, 1e-6, 64), "") << text;
}

std::string arrow(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  return " : " + typeOf(from) + " -> " + typeOf(to);
}

/// x² + 0.5 of a new parameter: a positive operand.
Node positive(GraphWriter &writer, ArrayRef<int64_t> shape) {
  Node x = writer.variable(shape);
  return writer.pointwise("arith.addf",
                          {writer.pointwise("arith.mulf", {x, x}), writer.constant("0.5", shape)});
}

template <const char *const *names>
void writeUnary(GraphWriter &writer) {
  for (const char *const *name = names; *name; ++name)
    writer.addToLoss(writer.pointwise(*name, {positive(writer, {2, 3})}));
}

constexpr const char *signedNames[] = {"math.exp", "math.expm1", "math.tanh",  "math.erf",   "math.sin",
                                       "math.cos", "math.absf",  "math.floor", "arith.negf", nullptr};
constexpr const char *positiveNames[] = {"math.log", "math.log1p", "math.sqrt", "math.rsqrt", nullptr};
constexpr const char *binaryNames[] = {"arith.addf",     "arith.subf",     "arith.mulf",
                                       "arith.maximumf", "arith.minimumf", nullptr};

void writeSigned(GraphWriter &writer) {
  for (const char *const *name = signedNames; *name; ++name)
    writer.addToLoss(writer.pointwise(*name, {writer.variable({2, 3})}));
}

void writePositive(GraphWriter &writer) { writeUnary<positiveNames>(writer); }

void writeBinary(GraphWriter &writer) {
  for (const char *const *name = binaryNames; *name; ++name)
    writer.addToLoss(writer.pointwise(*name, {writer.variable({2, 3}), writer.variable({2, 3})}));
  writer.addToLoss(writer.pointwise("arith.divf", {writer.variable({2, 3}), positive(writer, {2, 3})}));
  writer.addToLoss(writer.pointwise("math.powf", {positive(writer, {2, 3}), writer.variable({2, 3})}));
}

void writeSelect(GraphWriter &writer) {
  Node a = writer.variable({2, 3}), b = writer.variable({2, 3}), c = writer.variable({2, 3});
  Node less = writer.op("arith.cmpf olt, " + a.name + ", " + b.name + " : tensor<2x3xf32>", {2, 3});
  writer.addToLoss(writer.op("arith.select " + less.name + ", " + b.name + ", " + c.name +
                                 " : tensor<2x3xi1>, tensor<2x3xf32>",
                             {2, 3}));
}

void writeEinsums(GraphWriter &writer) {
  Node x = writer.variable({2, 3, 4}), w = writer.variable({5, 4});
  writer.addToLoss(writer.op("par.einsum \"bse,me->bsm\"(" + x.name + ", " + w.name +
                                 ") : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>",
                             {2, 3, 5}));
  // Batched and transposed, a letter summed in one operand alone, one operand, three operands.
  writer.addToLoss(writer.op("par.einsum \"bse,bte->tbs\"(" + x.name + ", " + x.name +
                                 ") : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<3x2x3xf32>",
                             {3, 2, 3}));
  writer.addToLoss(writer.op("par.einsum \"bse,me->sb\"(" + x.name + ", " + w.name +
                                 ") : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<3x2xf32>",
                             {3, 2}));
  writer.addToLoss(
      writer.op("par.einsum \"bse->es\"(" + x.name + ") : (tensor<2x3x4xf32>) -> tensor<4x3xf32>", {4, 3}));
  Node z = writer.variable({3, 5});
  writer.addToLoss(
      writer.op("par.einsum \"bse,me,sm->bm\"(" + x.name + ", " + w.name + ", " + z.name +
                    ") : (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>",
                {2, 5}));
}

void writeMoves(GraphWriter &writer) {
  Node x = writer.variable({2, 3, 4}), row = writer.variable({3});
  for (const char *kind : {"sum", "max", "min"})
    writer.addToLoss(writer.op(
        "par.reduce " + std::string(kind) + " " + x.name + " dims [0, 2]" + arrow(x.shape, {3}), {3}));
  writer.addToLoss(writer.op("par.expand " + row.name + " dims [0, 2]" + arrow({3}, {2, 3, 4}), {2, 3, 4}));
  writer.addToLoss(writer.op("par.reshape " + x.name + arrow(x.shape, {6, 4}), {6, 4}));
  writer.addToLoss(
      writer.op("par.transpose " + x.name + " [2, 0, 1]" + arrow(x.shape, {4, 2, 3}), {4, 2, 3}));
  writer.addToLoss(
      writer.op("par.slice " + x.name + " from [0, 1, 2]" + arrow(x.shape, {2, 2, 1}), {2, 2, 1}));
  writer.addToLoss(writer.op("par.pad " + x.name + " at [1, 0, 2]" + arrow(x.shape, {4, 3, 6}), {4, 3, 6}));
  Node y = writer.variable({2, 1, 4});
  writer.addToLoss(
      writer.op("par.concat " + x.name + ", " + y.name + ", " + x.name +
                    " dim 1 : (tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x3x4xf32>) -> tensor<2x7x4xf32>",
                {2, 7, 4}));
  writer.addToLoss(
      writer.op("par.constrain " + x.name + " <@mesh, [{\"a\"}, {}, {}]> : " + typeOf(x.shape), x.shape));
  writer.addToLoss(writer.op("par.transfer " + x.name + " to <host> : " + typeOf(x.shape), x.shape));
}

void writeNorms(GraphWriter &writer) {
  Node x = writer.variable({2, 3, 5}), w = writer.variable({5}), b = writer.variable({5});
  std::string xwb = "tensor<2x3x5xf32>, tensor<5xf32>";
  writer.addToLoss(writer.ops("par.rms_norm " + x.name + ", " + w.name + " {eps = 1.0e-5} : (" + xwb +
                                  ") -> (tensor<2x3x5xf32>, tensor<2x3xf32>)",
                              2, x.shape));
  Node heads = writer.variable({2, 3, 2, 4}), all = writer.variable({2, 4});
  writer.addToLoss(
      writer.ops("par.rms_norm " + heads.name + ", " + all.name +
                     " {eps = 1.0e-5, offset = 1.0, count = 8} : (tensor<2x3x2x4xf32>, tensor<2x4xf32>) -> "
                     "(tensor<2x3x2x4xf32>, tensor<2x3xf32>)",
                 2, heads.shape));
  writer.addToLoss(writer.ops("par.layer_norm " + x.name + ", " + w.name + ", " + b.name +
                                  " {eps = 1.0e-5} : (" + xwb +
                                  ", tensor<5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>)",
                              3, x.shape));
  writer.addToLoss(writer.ops("par.standardize " + x.name +
                                  " {eps = 1.0e-5} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, "
                                  "tensor<2x3xf32>, tensor<2x3xf32>)",
                              3, x.shape));
  writer.addToLoss(writer.pointwise("par.softmax", {x}));
}

void writeRotary(GraphWriter &writer) {
  Node x = writer.variable({2, 3, 2, 4}), p = writer.op("par.iota dim 0 : tensor<3xi32>", {3});
  for (const char *flag : {"", ", transposed", ", factor = 1.5"})
    writer.addToLoss(writer.op("par.rotary " + x.name + ", " + p.name +
                                   " {frequencies = array<f64: 1.0, 0.3>" + flag +
                                   "} : (tensor<2x3x2x4xf32>, tensor<3xi32>) -> tensor<2x3x2x4xf32>",
                               x.shape));
}

/// Two kv heads with three query heads each, five rows.
void writeAttention(GraphWriter &writer, const std::string &attributes, bool dropout) {
  Node q = writer.variable({2, 5, 2, 3, 4}), k = writer.variable({2, 5, 2, 4}),
       v = writer.variable({2, 5, 2, 4});
  Node p = writer.op("par.iota dim 0 : tensor<5xi32>", {5});
  std::string drop,
      types = "tensor<2x5x2x3x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>, tensor<5xi32>, tensor<5xi32>";
  if (dropout) {
    Node key = writer.op("arith.constant dense<[3, 4]> : tensor<2xi32>", {2}),
         zero = writer.op("arith.constant dense<0> : tensor<i32>", {});
    Node offsets = writer.op("arith.constant dense<0> : tensor<5xi32>", {5});
    drop = " dropout " + key.name + " site " + zero.name + " row " + zero.name + " offsets " + offsets.name;
    types += ", tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>";
  }
  writer.addToLoss(writer.ops("par.attention " + q.name + ", " + k.name + ", " + v.name + " positions " +
                                  p.name + ", " + p.name + drop + " {" + attributes + "} : (" + types +
                                  ") -> (tensor<2x5x2x3x4xf32>, tensor<2x2x3x5xf32>)",
                              2, q.shape));
}

void writeFullAttention(GraphWriter &writer) { writeAttention(writer, "scale = 0.5", false); }
void writeCausalAttention(GraphWriter &writer) {
  writeAttention(writer, "scale = 0.5, causal, window = 3 : i64", false);
}
void writeDroppedAttention(GraphWriter &writer) {
  writeAttention(writer, "scale = 0.5, causal, dropout = 0.3, strides = array<i64: 0, 30, 15, 5, 1>", true);
}

/// Documents of each entry of the batch, a cap, sinks, and values of another size than keys.
void writeAttentionOfDocuments(GraphWriter &writer) {
  Node q = writer.variable({2, 5, 2, 3, 4}), k = writer.variable({2, 5, 2, 4}),
       v = writer.variable({2, 5, 2, 3}), sinks = writer.variable({2, 3});
  std::string table = "tensor<2x5xi32>";
  Node p = writer.op("arith.constant dense<[[0, 1, 0, 1, 2], [0, 1, 2, 3, 0]]> : " + table, {2, 5});
  Node d = writer.op("arith.constant dense<[[0, 0, 1, 1, 1], [4, 4, 4, 4, 7]]> : " + table, {2, 5});
  writer.addToLoss(
      writer.ops("par.attention " + q.name + ", " + k.name + ", " + v.name + " positions " + p.name + ", " +
                     p.name + " documents " + d.name + ", " + d.name + " sinks " + sinks.name +
                     " {scale = 0.5, causal, cap = 0.75} : (tensor<2x5x2x3x4xf32>, " +
                     "tensor<2x5x2x4xf32>, tensor<2x5x2x3xf32>, " + table + ", " + table + ", " + table +
                     ", " + table + ", tensor<2x3xf32>) -> (tensor<2x5x2x3x3xf32>, " + "tensor<2x2x3x5xf32>)",
                 2, {2, 5, 2, 3, 3}));
}

void writeDropout(GraphWriter &writer) {
  Node x = writer.variable({4, 6});
  Node key = writer.op("arith.constant dense<[3, 4]> : tensor<2xi32>", {2}),
       zero = writer.op("arith.constant dense<0> : tensor<i32>", {});
  Node offsets = writer.op("arith.constant dense<0> : tensor<2xi32>", {2});
  writer.addToLoss(writer.op("par.dropout " + x.name + " key " + key.name + " site " + zero.name + " row " +
                                 zero.name + " offsets " + offsets.name +
                                 " {p = 0.4, strides = array<i64: 0, 1>} : (tensor<4x6xf32>, tensor<2xi32>, "
                                 "tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<4x6xf32>",
                             x.shape));
}

void writeLookups(GraphWriter &writer) {
  Node tokens = writer.input("tokens", 2, 4), targets = writer.input("targets", 2, 4),
       table = writer.variable({6, 3}), logits = writer.variable({2, 4, 6});
  writer.addToLoss(writer.op("par.embedding " + tokens.name + ", " + table.name +
                                 " : (tensor<2x4xi32>, tensor<6x3xf32>) -> tensor<2x4x3xf32>",
                             {2, 4, 3}));
  writer.addToLoss(writer.ops(
      "par.cross_entropy " + logits.name + ", " + targets.name +
          " {classes = 6 : i64} : (tensor<2x4x6xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)",
      2, {2, 4}));
}

/// Rows of matrices, of vectors by one id, and numbers, some of them by ids that come twice or name no row.
void writeRows(GraphWriter &writer) {
  Node matrices = writer.variable({5, 2, 3}), numbers = writer.variable({4});
  Node ids = writer.op("arith.constant dense<[[4, 0], [4, 7]]> : tensor<2x2xi32>", {2, 2}),
       one = writer.op("arith.constant dense<1> : tensor<i32>", {});
  Node taken = writer.op("par.take_rows " + ids.name + ", " + matrices.name +
                             " : (tensor<2x2xi32>, tensor<5x2x3xf32>) -> tensor<2x2x2x3xf32>",
                         {2, 2, 2, 3});
  Node squared = writer.pointwise("arith.mulf", {taken, taken});
  writer.addToLoss(
      writer.op("par.add_rows " + ids.name + ", " + squared.name + " offset " + one.name +
                    " : (tensor<2x2xi32>, tensor<2x2x2x3xf32>, tensor<i32>) -> tensor<4x2x3xf32>",
                {4, 2, 3}));
  writer.addToLoss(writer.op("par.take_rows " + one.name + ", " + numbers.name +
                                 " : (tensor<i32>, tensor<4xf32>) -> tensor<f32>",
                             {}));
  writer.addToLoss(writer.op("par.add_rows " + one.name + ", " + numbers.name +
                                 " : (tensor<i32>, tensor<4xf32>) -> tensor<3x4xf32>",
                             {3, 4}));
}

/// A parameter used three times, once in a diamond, once by two calls of a layer.
void writeSharedUses(GraphWriter &writer) {
  writer.function(
      "func.func private @layer(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>) -> tensor<3x4xf32> {\n"
      "  %y = par.einsum \"ab,cb->ac\"(%x, %w) : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>\n"
      "  %z = math.tanh %y : tensor<3x4xf32>\n  return %z : tensor<3x4xf32>\n}\n");
  Node x = writer.variable({3, 4}), w = writer.variable({4, 4});
  std::string types = " : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>";
  Node first = writer.op("par.call @layer(" + x.name + ", " + w.name + ")" + types, x.shape);
  Node second = writer.op("par.call @layer(" + first.name + ", " + w.name + ")" + types, x.shape);
  Node direct = writer.op("par.einsum \"ab,bc->ac\"(" + second.name + ", " + w.name + ")" + types, x.shape);
  writer.addToLoss(writer.pointwise("arith.mulf", {writer.pointwise("arith.addf", {first, direct}), second}));
}

const OpCase cases[] = {{"signed_maths", writeSigned},
                        {"positive_maths", writePositive},
                        {"binary_maths", writeBinary},
                        {"select", writeSelect},
                        {"einsum", writeEinsums},
                        {"moves_and_reductions", writeMoves},
                        {"norms_and_softmax", writeNorms},
                        {"rotary", writeRotary},
                        {"attention", writeFullAttention},
                        {"attention_causal_window", writeCausalAttention},
                        {"attention_dropout", writeDroppedAttention},
                        {"attention_documents", writeAttentionOfDocuments},
                        {"dropout", writeDropout},
                        {"embedding_and_cross_entropy", writeLookups},
                        {"rows_by_number", writeRows},
                        {"shared_uses_and_calls", writeSharedUses}};
INSTANTIATE_TEST_SUITE_P(Ops, GradientTest, ::testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

/// A whole model of two layers: the derivative along random directions of all parameters together.
class ModelGradientTest : public GradientTest {};
TEST_P(ModelGradientTest, agreesAlongDirections) {
  ImportOptions options;
  StringRef name = GetParam().name;
  options.dtype = name.consume_back("_bf16") ? "bf16" : "f32";
  options.model = PAR_TEST_DIR "/Golden/" + name.str();
  options.seq = 8;
  options.batch = 2;
  options.overrides = {name == "gpt2" ? "resid_pdrop=0.2" : "attention_dropout=0.2"};
  OwningOpRef<ModuleOp> module = importModel(context, options);
  ASSERT_TRUE(module);
  TrainingCase test(context, std::move(module), 11);
  std::optional<Outcome> outcome = test.run(differentiatePipeline);
  ASSERT_TRUE(outcome) << test.error;
  Random random(5);
  for (int trial = 0; trial < 4; ++trial) {
    constexpr double h = 1e-6;
    std::map<std::string, Tensor> above = test.getParameters(), below = above;
    double expected = 0.0;
    for (auto &[name, value] : test.getParameters())
      for (int64_t element = 0; element < value.size(); ++element) {
        double direction = random.real();
        above[name].values[element] += h * direction;
        below[name].values[element] -= h * direction;
        expected += direction * outcome->gradients.at(name).values[element];
      }
    double quotient = (*test.evaluate(above) - *test.evaluate(below)) / (2 * h);
    EXPECT_NEAR(quotient, expected, 1e-6 * std::max(1.0, std::abs(expected)));
  }
}
const OpCase models[] = {
    {"gpt2", nullptr}, {"llama", nullptr}, {"gpt2_bf16", nullptr}, {"llama_bf16", nullptr}};
INSTANTIATE_TEST_SUITE_P(TwoLayers, ModelGradientTest, ::testing::ValuesIn(models),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
