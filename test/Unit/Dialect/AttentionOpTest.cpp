//===- AttentionOpTest.cpp - attention with documents, caps, sinks and values of another size -----------===//
#include "OpTest.h"

using namespace mlir;
using namespace mlir::par;

namespace {
using AttentionGradientTest = OpTest;
using AttentionShardTest = OpTest;
TEST_P(AttentionGradientTest, equalsFiniteDifferences) { checkGradient(GetParam()); }
TEST_P(AttentionShardTest, fourRanksEqualOne) { checkShards(GetParam()); }

/// Grouped heads with other numbers of rows of q and k, and values of 3 where keys have 2. Positions are
/// drawn from 0 … 3 and documents from 0 … 1, so some rows of q see no row of k. `tables`: dimensions of a
/// table before its rows.
#define ATTENTION(attributes, tables, extraArguments, extraOperands, extraTypes)                             \
  "func.func @main(%q: tensor<4x8x4x4x2xf64>, %k: tensor<4x3x4x2xf64>, %v: tensor<4x3x4x3xf64>, %qp: "       \
  "tensor<" tables "8xi32>, %kp: tensor<" tables "3xi32>" extraArguments ") -> tensor<4x8x4x4x3xf64> {\n"    \
  "  %o, %l = par.attention %q, %k, %v positions %qp, %kp " extraOperands " {scale = 0.5" attributes "}\n"   \
  "      : (tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x3xf64>, tensor<" tables "8xi32>, "      \
  "tensor<" tables "3xi32>" extraTypes ")\n"                                                                 \
  "      -> (tensor<4x8x4x4x3xf64>, tensor<4x4x4x8xf64>)\n"                                                  \
  "  return %o : tensor<4x8x4x4x3xf64>\n}"
#define ATTENTION_BACKWARD(attributes, tables, extraArguments, extraOperands, extraTypes)                    \
  "func.func @main(%d: tensor<4x8x4x4x3xf64>, %q: tensor<4x8x4x4x2xf64>, %k: tensor<4x3x4x2xf64>, %v: "      \
  "tensor<4x3x4x3xf64>, %o: tensor<4x8x4x4x3xf64>, %l: tensor<4x4x4x8xf64>, %qp: tensor<" tables             \
  "8xi32>, %kp: tensor<" tables "3xi32>" extraArguments ")\n"                                                \
  "    -> (tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x3xf64>) {\n"                             \
  "  %a, %b, %c = par.attention_backward %d, %q, %k, %v, %o, %l positions %qp, %kp " extraOperands           \
  " {scale = 0.5" attributes "}\n"                                                                           \
  "      : (tensor<4x8x4x4x3xf64>, tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x3xf64>, "        \
  "tensor<4x8x4x4x3xf64>, tensor<4x4x4x8xf64>, tensor<" tables "8xi32>, tensor<" tables "3xi32>" extraTypes  \
  ")\n"                                                                                                      \
  "      -> (tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x3xf64>)\n"                             \
  "  return %a, %b, %c : tensor<4x8x4x4x2xf64>, tensor<4x3x4x2xf64>, tensor<4x3x4x3xf64>\n}"
#define DOCUMENT_ARGUMENTS(tables)                                                                           \
  ", %qd: tensor<" tables "8xi32> {test.max = 2 : i64}, %kd: tensor<" tables "3xi32> {test.max = 2 : i64}"
#define DOCUMENT_OPERANDS "documents %qd, %kd "
#define DOCUMENT_TYPES(tables) ", tensor<" tables "8xi32>, tensor<" tables "3xi32>"
#define SINK_ARGUMENTS ", %s: tensor<4x4xf64>"
#define SINK_OPERANDS "sinks %s "
#define SINK_TYPES ", tensor<4x4xf64>"
#define DROPOUT_ATTRIBUTES ", dropout = 0.4, strides = array<i64: 0, 48, 12, 3, 1>"
#define DROPOUT_ARGUMENTS                                                                                    \
  ", %key: tensor<2xi32> {test.max = 1000 : i64}, %site: tensor<i32>, %row: tensor<i32>, %offsets: "         \
  "tensor<5xi32>"
#define DROPOUT_OPERANDS "dropout %key site %site row %row offsets %offsets"
#define DROPOUT_TYPES ", tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>"

const OpCase kForward[] = {
    {"values", ATTENTION("", "", "", "", "")},
    {"cap", ATTENTION(", causal, cap = 0.4", "", "", "", "")},
    {"documents", ATTENTION(", causal", "", DOCUMENT_ARGUMENTS(""), DOCUMENT_OPERANDS, DOCUMENT_TYPES(""))},
    {"rowsPerEntry", ATTENTION(", causal, window = 2 : i64", "4x", "", "", "")},
    {"documentsPerEntry",
     ATTENTION(", causal", "4x", DOCUMENT_ARGUMENTS("4x"), DOCUMENT_OPERANDS, DOCUMENT_TYPES("4x"))},
    {"sinks", ATTENTION(", causal", "", SINK_ARGUMENTS, SINK_OPERANDS, SINK_TYPES)},
    {"all", ATTENTION(", causal, window = 3 : i64, cap = 0.4" DROPOUT_ATTRIBUTES, "4x",
                      DOCUMENT_ARGUMENTS("4x") SINK_ARGUMENTS DROPOUT_ARGUMENTS,
                      DOCUMENT_OPERANDS SINK_OPERANDS DROPOUT_OPERANDS,
                      DOCUMENT_TYPES("4x") SINK_TYPES DROPOUT_TYPES)},
};
INSTANTIATE_TEST_SUITE_P(Forward, AttentionGradientTest, ::testing::ValuesIn(kForward), getCaseName);
INSTANTIATE_TEST_SUITE_P(Forward, AttentionShardTest, ::testing::ValuesIn(kForward), getCaseName);

const OpCase kBackward[] = {
    {"values", ATTENTION_BACKWARD(", causal", "", "", "", "")},
    {"all", ATTENTION_BACKWARD(", causal, cap = 0.4, sinks" DROPOUT_ATTRIBUTES, "4x",
                               DOCUMENT_ARGUMENTS("4x") DROPOUT_ARGUMENTS, DOCUMENT_OPERANDS DROPOUT_OPERANDS,
                               DOCUMENT_TYPES("4x") DROPOUT_TYPES)},
};
INSTANTIATE_TEST_SUITE_P(Backward, AttentionShardTest, ::testing::ValuesIn(kBackward), getCaseName);
} // namespace
