//===- TransformerOpsTest.cpp - norms, softmax, rotary, attention, optimizers ---------------------------===//
#include "OpTest.h"

using namespace mlir;
using namespace mlir::par;

namespace {
using TransformerGradientTest = OpTest;
using TransformerDecompositionTest = OpTest;
using TransformerShardTest = OpTest;
TEST_P(TransformerGradientTest, equalsFiniteDifferences) { checkGradient(GetParam()); }
TEST_P(TransformerDecompositionTest, equalsMeaning) { checkDecomposition(GetParam()); }
TEST_P(TransformerShardTest, fourRanksEqualOne) { checkShards(GetParam()); }

const OpCase kForward[] = {
    {"rmsNorm", R"(
      func.func @main(%x: tensor<4x4x6xf64>, %w: tensor<6xf64>) -> tensor<4x4x6xf64> {
        %y, %r = par.rms_norm %x, %w {eps = 0.01} : (tensor<4x4x6xf64>, tensor<6xf64>) -> (tensor<4x4x6xf64>, tensor<4x4xf64>)
        return %y : tensor<4x4x6xf64>
      })"},
    {"rmsNormOfHeads", R"(
      func.func @main(%x: tensor<4x4x4x3xf64>, %w: tensor<4x3xf64>) -> tensor<4x4x4x3xf64> {
        %y, %r = par.rms_norm %x, %w {eps = 0.01, offset = 1.0, count = 12}
            : (tensor<4x4x4x3xf64>, tensor<4x3xf64>) -> (tensor<4x4x4x3xf64>, tensor<4x4xf64>)
        return %y : tensor<4x4x4x3xf64>
      })"},
    {"layerNorm", R"(
      func.func @main(%x: tensor<4x6xf64>, %w: tensor<6xf64>, %b: tensor<6xf64>) -> tensor<4x6xf64> {
        %y, %m, %r = par.layer_norm %x, %w, %b {eps = 0.01}
            : (tensor<4x6xf64>, tensor<6xf64>, tensor<6xf64>) -> (tensor<4x6xf64>, tensor<4xf64>, tensor<4xf64>)
        return %y : tensor<4x6xf64>
      })"},
    {"standardize", R"(
      func.func @main(%x: tensor<4x4x6xf64>) -> tensor<4x4x6xf64> {
        %y, %m, %r = par.standardize %x {eps = 0.01} : (tensor<4x4x6xf64>) -> (tensor<4x4x6xf64>, tensor<4x4xf64>, tensor<4x4xf64>)
        return %y : tensor<4x4x6xf64>
      })"},
    {"sigmoid", R"(
      func.func @main(%x: tensor<4x4x5xf64>) -> tensor<4x4x5xf64> {
        %y = par.sigmoid %x : tensor<4x4x5xf64>
        return %y : tensor<4x4x5xf64>
      })",
     -4, 4},
    {"softmax", R"(
      func.func @main(%x: tensor<4x4x5xf64>) -> tensor<4x4x5xf64> {
        %y = par.softmax %x : tensor<4x4x5xf64>
        return %y : tensor<4x4x5xf64>
      })"},
    {"rotary", R"(
      func.func @main(%x: tensor<4x4x4x4xf64>, %p: tensor<4xi32>) -> tensor<4x4x4x4xf64> {
        %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.3>} : (tensor<4x4x4x4xf64>, tensor<4xi32>) -> tensor<4x4x4x4xf64>
        return %y : tensor<4x4x4x4xf64>
      })"},
    {"rotaryPart", R"(
      func.func @main(%x: tensor<4x4x4x5xf64>, %p: tensor<4x4xi32>) -> tensor<4x4x4x5xf64> {
        %y = par.rotary %x, %p {frequencies = array<f64: 0.3>, factor = 1.5} : (tensor<4x4x4x5xf64>, tensor<4x4xi32>) -> tensor<4x4x4x5xf64>
        return %y : tensor<4x4x4x5xf64>
      })"},
    // Frequencies that are no geometric series, as in Llama 3.
    {"rotaryTransposed", R"(
      func.func @main(%x: tensor<4x8x6xf64>, %p: tensor<8xi32>) -> tensor<4x8x6xf64> {
        %y = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.3, 0.05>, transposed} : (tensor<4x8x6xf64>, tensor<8xi32>) -> tensor<4x8x6xf64>
        return %y : tensor<4x8x6xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Forward, TransformerGradientTest, ::testing::ValuesIn(kForward), getCaseName);
INSTANTIATE_TEST_SUITE_P(Forward, TransformerDecompositionTest, ::testing::ValuesIn(kForward), getCaseName);
INSTANTIATE_TEST_SUITE_P(Forward, TransformerShardTest, ::testing::ValuesIn(kForward), getCaseName);

// A vector has no dimension that may be split.
const OpCase kVector[] = {
    {"layerNormOfVector", R"(
      func.func @main(%x: tensor<6xf64>, %w: tensor<6xf64>, %b: tensor<6xf64>) -> tensor<6xf64> {
        %y, %m, %r = par.layer_norm %x, %w, %b {eps = 0.01}
            : (tensor<6xf64>, tensor<6xf64>, tensor<6xf64>) -> (tensor<6xf64>, tensor<f64>, tensor<f64>)
        return %y : tensor<6xf64>
      })"},
    {"standardizeOfVector", R"(
      func.func @main(%x: tensor<6xf64>) -> tensor<6xf64> {
        %y, %m, %r = par.standardize %x {eps = 0.01} : (tensor<6xf64>) -> (tensor<6xf64>, tensor<f64>, tensor<f64>)
        return %y : tensor<6xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Vector, TransformerGradientTest, ::testing::ValuesIn(kVector), getCaseName);
INSTANTIATE_TEST_SUITE_P(Vector, TransformerDecompositionTest, ::testing::ValuesIn(kVector), getCaseName);

// Tables that are no cosines and sines of anything are rotated by all the same.
const OpCase kTables[] = {
    {"rotaryTables", R"(
      func.func @main(%p: tensor<8xi32>) -> (tensor<8x3xf64>, tensor<8x3xf64>) {
        %c, %s = par.rotary_tables %p {frequencies = array<f64: 1.0, 0.3, 0.05>} : (tensor<8xi32>) -> (tensor<8x3xf64>, tensor<8x3xf64>)
        return %c, %s : tensor<8x3xf64>, tensor<8x3xf64>
      })"},
    {"rotate", R"(
      func.func @main(%x: tensor<4x8x2x6xf64>, %c: tensor<8x3xf64>, %s: tensor<8x3xf64>) -> tensor<4x8x2x6xf64> {
        %y = par.rotate %x, %c, %s : (tensor<4x8x2x6xf64>, tensor<8x3xf64>, tensor<8x3xf64>) -> tensor<4x8x2x6xf64>
        return %y : tensor<4x8x2x6xf64>
      })"},
    {"rotateTransposed", R"(
      func.func @main(%x: tensor<4x8x6xf64>, %c: tensor<8x3xf64>, %s: tensor<8x3xf64>) -> tensor<4x8x6xf64> {
        %y = par.rotate %x, %c, %s {transposed} : (tensor<4x8x6xf64>, tensor<8x3xf64>, tensor<8x3xf64>) -> tensor<4x8x6xf64>
        return %y : tensor<4x8x6xf64>
      })"},
    {"rotatePart", R"(
      func.func @main(%x: tensor<4x8x6xf64>, %c: tensor<4x8x2xf64>, %s: tensor<4x8x2xf64>) -> tensor<4x8x6xf64> {
        %y = par.rotate %x, %c, %s : (tensor<4x8x6xf64>, tensor<4x8x2xf64>, tensor<4x8x2xf64>) -> tensor<4x8x6xf64>
        return %y : tensor<4x8x6xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Tables, TransformerDecompositionTest, ::testing::ValuesIn(kTables), getCaseName);
INSTANTIATE_TEST_SUITE_P(Tables, TransformerShardTest, ::testing::ValuesIn(kTables), getCaseName);

const OpCase kBackward[] = {
    {"rmsNormOfHeadsBackward", R"(
      func.func @main(%dy: tensor<4x4x4x3xf64>, %x: tensor<4x4x4x3xf64>, %w: tensor<4x3xf64>, %r: tensor<4x4xf64>)
          -> (tensor<4x4x4x3xf64>, tensor<4x3xf64>) {
        %dx, %dw = par.rms_norm_backward %dy, %x, %w, %r {offset = 1.0, count = 12}
            : (tensor<4x4x4x3xf64>, tensor<4x4x4x3xf64>, tensor<4x3xf64>, tensor<4x4xf64>) -> (tensor<4x4x4x3xf64>, tensor<4x3xf64>)
        return %dx, %dw : tensor<4x4x4x3xf64>, tensor<4x3xf64>
      })"},
    {"rmsNormBackward", R"(
      func.func @main(%dy: tensor<4x4x6xf64>, %x: tensor<4x4x6xf64>, %w: tensor<6xf64>, %r: tensor<4x4xf64>) -> (tensor<4x4x6xf64>, tensor<6xf64>) {
        %dx, %dw = par.rms_norm_backward %dy, %x, %w, %r
            : (tensor<4x4x6xf64>, tensor<4x4x6xf64>, tensor<6xf64>, tensor<4x4xf64>) -> (tensor<4x4x6xf64>, tensor<6xf64>)
        return %dx, %dw : tensor<4x4x6xf64>, tensor<6xf64>
      })"},
    {"layerNormBackward", R"(
      func.func @main(%dy: tensor<4x6xf64>, %x: tensor<4x6xf64>, %w: tensor<6xf64>, %m: tensor<4xf64>, %r: tensor<4xf64>)
          -> (tensor<4x6xf64>, tensor<6xf64>, tensor<6xf64>) {
        %dx, %dw, %db = par.layer_norm_backward %dy, %x, %w, %m, %r
            : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<6xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<4x6xf64>, tensor<6xf64>, tensor<6xf64>)
        return %dx, %dw, %db : tensor<4x6xf64>, tensor<6xf64>, tensor<6xf64>
      })"},
    {"standardizeBackward", R"(
      func.func @main(%dy: tensor<4x6xf64>, %x: tensor<4x6xf64>, %m: tensor<4xf64>, %r: tensor<4xf64>) -> tensor<4x6xf64> {
        %dx = par.standardize_backward %dy, %x, %m, %r
            : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4x6xf64>
        return %dx : tensor<4x6xf64>
      })"},
    {"softmaxBackward", R"(
      func.func @main(%dy: tensor<4x5xf64>, %y: tensor<4x5xf64>) -> tensor<4x5xf64> {
        %dx = par.softmax_backward %dy, %y : tensor<4x5xf64>
        return %dx : tensor<4x5xf64>
      })"},
    // Means of squares and bias corrections are positive.
    {"adamw", R"(
      func.func @main(%p: tensor<4x8xf64>, %g: tensor<4x8xf64>, %m: tensor<4x8xf64>, %v: tensor<4x8xf64>, %lr: tensor<f64>, %b1: tensor<f64>,
          %b2: tensor<f64>, %e: tensor<f64>, %wd: tensor<f64>, %c1: tensor<f64>, %c2: tensor<f64>, %clip: tensor<f64>)
          -> (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>) {
        %a, %b, %c = par.adamw %p, %g, %m, %v scalars %lr, %b1, %b2, %e, %wd, %c1, %c2, %clip {decay}
            : (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>,
               tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>)
        return %a, %b, %c : tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>
      })",
     0.1, 0.9},
    {"sgd", R"(
      func.func @main(%p: tensor<4xf64>, %g: tensor<4xf64>, %lr: tensor<f64>, %wd: tensor<f64>, %clip: tensor<f64>) -> tensor<4xf64> {
        %a = par.sgd %p, %g scalars %lr, %wd, %clip {decay}
            : (tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<4xf64>
        return %a : tensor<4xf64>
      })"},
    {"sgdWithoutDecay", R"(
      func.func @main(%p: tensor<4xf64>, %g: tensor<4xf64>, %lr: tensor<f64>, %wd: tensor<f64>, %clip: tensor<f64>) -> tensor<4xf64> {
        %a = par.sgd %p, %g scalars %lr, %wd, %clip
            : (tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<4xf64>
        return %a : tensor<4xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Backward, TransformerDecompositionTest, ::testing::ValuesIn(kBackward), getCaseName);

// bf16 values: statistics and sums are f32, what is stored is rounded once; wider gradients of parameters; a
// master's parameter.
const OpCase kNarrow[] = {
    {"rmsNorm", R"(
      func.func @main(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>) -> (tensor<4x8xbf16>, tensor<4xf32>) {
        %y, %r = par.rms_norm %x, %w {eps = 0.0078125} : (tensor<4x8xbf16>, tensor<8xbf16>) -> (tensor<4x8xbf16>, tensor<4xf32>)
        return %y, %r : tensor<4x8xbf16>, tensor<4xf32>
      })"},
    {"rmsNormBackward", R"(
      func.func @main(%dy: tensor<4x6xbf16>, %x: tensor<4x6xbf16>, %w: tensor<6xbf16>, %r: tensor<4xf32>) -> (tensor<4x6xbf16>, tensor<6xf32>) {
        %dx, %dw = par.rms_norm_backward %dy, %x, %w, %r
            : (tensor<4x6xbf16>, tensor<4x6xbf16>, tensor<6xbf16>, tensor<4xf32>) -> (tensor<4x6xbf16>, tensor<6xf32>)
        return %dx, %dw : tensor<4x6xbf16>, tensor<6xf32>
      })"},
    {"standardize", R"(
      func.func @main(%x: tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>) {
        %y, %m, %r = par.standardize %x {eps = 0.0078125} : (tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>)
        return %y, %m, %r : tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>
      })"},
    {"softmax", R"(
      func.func @main(%x: tensor<4x5xbf16>) -> tensor<4x5xbf16> {
        %y = par.softmax %x : tensor<4x5xbf16>
        return %y : tensor<4x5xbf16>
      })"},
    {"adamw", R"(
      func.func @main(%p: tensor<32xf32>, %g: tensor<32xbf16>, %m: tensor<32xbf16>, %v: tensor<32xbf16>, %s: tensor<f32>)
          -> (tensor<32xf32>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>) {
        %a, %b, %c, %d = par.adamw %p, %g, %m, %v scalars %s, %s, %s, %s, %s, %s, %s, %s {decay}
            : (tensor<32xf32>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
               tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<32xf32>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>)
        return %a, %b, %c, %d : tensor<32xf32>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>
      })",
     0.1, 0.9},
    {"sgd", R"(
      func.func @main(%p: tensor<32xf32>, %g: tensor<32xf32>, %s: tensor<f32>) -> (tensor<32xf32>, tensor<32xbf16>) {
        %a, %b = par.sgd %p, %g scalars %s, %s, %s {decay}
            : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<32xf32>, tensor<32xbf16>)
        return %a, %b : tensor<32xf32>, tensor<32xbf16>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Narrow, TransformerDecompositionTest, ::testing::ValuesIn(kNarrow), getCaseName);
INSTANTIATE_TEST_SUITE_P(Backward, TransformerShardTest, ::testing::ValuesIn(kBackward), getCaseName);

/// Grouped heads with other numbers of rows of q and k. Positions are drawn from 0 … 3, so some rows of q see
/// no row of k.
#define ATTENTION(attributes, extraArguments, extraOperands, extraTypes)                                     \
  "func.func @main(%q: tensor<4x8x4x4x2xf64>, %k: tensor<4x3x4x2xf64>, %v: tensor<4x3x4x2xf64>, %qp: "       \
  "tensor<8xi32>, "                                                                                          \
  "%kp: tensor<3xi32>" extraArguments ") -> tensor<4x8x4x4x2xf64> {\n"                                       \
  "  %o, %l = par.attention %q, %k, %v positions %qp, %kp " extraOperands " {scale = 0.5" attributes "}\n"   \
  "      : (tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x2xf64>, tensor<8xi32>, "                \
  "tensor<3xi32>" extraTypes ")\n"                                                                           \
  "      -> (tensor<4x8x4x4x2xf64>, tensor<4x4x4x8xf64>)\n"                                                  \
  "  return %o : tensor<4x8x4x4x2xf64>\n}"
#define ATTENTION_BACKWARD(attributes, extraArguments, extraOperands, extraTypes)                            \
  "func.func @main(%d: tensor<4x8x4x4x2xf64>, %q: tensor<4x8x4x4x2xf64>, %k: tensor<4x3x4x2xf64>, %v: "      \
  "tensor<4x3x4x2xf64>, "                                                                                    \
  "%o: tensor<4x8x4x4x2xf64>, %l: tensor<4x4x4x8xf64>, %qp: tensor<8xi32>, %kp: "                            \
  "tensor<3xi32>" extraArguments ")\n"                                                                       \
  "    -> (tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x2xf64>) {\n"                             \
  "  %a, %b, %c = par.attention_backward %d, %q, %k, %v, %o, %l positions %qp, %kp " extraOperands           \
  " {scale = 0.5" attributes "}\n"                                                                           \
  "      : (tensor<4x8x4x4x2xf64>, tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x2xf64>, "        \
  "tensor<4x8x4x4x2xf64>, "                                                                                  \
  "tensor<4x4x4x8xf64>, tensor<8xi32>, tensor<3xi32>" extraTypes ")\n"                                       \
  "      -> (tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x2xf64>)\n"                             \
  "  return %a, %b, %c : tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x2xf64>\n}"
#define DROPOUT_ATTRIBUTES ", causal, dropout = 0.4, strides = array<i64: 0, 48, 12, 3, 1>"
#define DROPOUT_ARGUMENTS                                                                                    \
  ", %key: tensor<2xi32> {test.max = 1000 : i64}, %site: tensor<i32>, %row: tensor<i32>, %offsets: "         \
  "tensor<5xi32>"
#define DROPOUT_OPERANDS "dropout %key site %site row %row offsets %offsets"
#define DROPOUT_TYPES ", tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>"

const OpCase kAttention[] = {
    {"attention", ATTENTION("", "", "", "")},
    {"attentionCausal", ATTENTION(", causal", "", "", "")},
    {"attentionWindow", ATTENTION(", causal, window = 2 : i64", "", "", "")},
    {"attentionWindowBothWays", ATTENTION(", window = 1 : i64", "", "", "")},
    {"attentionDropout", ATTENTION(DROPOUT_ATTRIBUTES, DROPOUT_ARGUMENTS, DROPOUT_OPERANDS, DROPOUT_TYPES)},
};
INSTANTIATE_TEST_SUITE_P(Attention, TransformerGradientTest, ::testing::ValuesIn(kAttention), getCaseName);
INSTANTIATE_TEST_SUITE_P(Attention, TransformerShardTest, ::testing::ValuesIn(kAttention), getCaseName);

/// Values beyond what exp holds.
const OpCase kLarge[] = {
    {"softmaxLarge", R"(
      func.func @main(%x: tensor<4x5xf64>) -> tensor<4x5xf64> {
        %y = par.softmax %x : tensor<4x5xf64>
        return %y : tensor<4x5xf64>
      })",
     800, 2000},
};
INSTANTIATE_TEST_SUITE_P(Large, TransformerDecompositionTest, ::testing::ValuesIn(kLarge), getCaseName);

const OpCase kAttentionBackward[] = {
    {"attentionBackward", ATTENTION_BACKWARD(", causal", "", "", "")},
    {"attentionBackwardDropout",
     ATTENTION_BACKWARD(DROPOUT_ATTRIBUTES, DROPOUT_ARGUMENTS, DROPOUT_OPERANDS, DROPOUT_TYPES)},
};
INSTANTIATE_TEST_SUITE_P(AttentionBackward, TransformerShardTest, ::testing::ValuesIn(kAttentionBackward),
                         getCaseName);
} // namespace
