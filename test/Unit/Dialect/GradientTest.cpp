//===- GradientTest.cpp - derivatives against finite differences ----------------------------------------===//
#include "OpTest.h"

using namespace mlir;
using namespace mlir::par;

namespace {
using GradientTest = OpTest;
TEST_P(GradientTest, equalsFiniteDifferences) { checkGradient(GetParam()); }

/// A function of one float tensor.
#define UNARY(op)                                                                                            \
  "func.func @main(%x: tensor<3x2xf64>) -> tensor<3x2xf64> {\n %y = " op                                     \
  " %x : tensor<3x2xf64>\n return %y : tensor<3x2xf64>\n}"
#define BINARY(op)                                                                                           \
  "func.func @main(%x: tensor<3x2xf64>, %z: tensor<3x2xf64>) -> tensor<3x2xf64> {\n %y = " op                \
  " %x, %z : tensor<3x2xf64>\n return %y : tensor<3x2xf64>\n}"

const OpCase kElementwise[] = {
    {"addf", BINARY("arith.addf")},
    {"subf", BINARY("arith.subf")},
    {"mulf", BINARY("arith.mulf")},
    {"divf", BINARY("arith.divf"), 0.5, 2},
    {"maximumf", BINARY("arith.maximumf")},
    {"minimumf", BINARY("arith.minimumf")},
    {"powf", BINARY("math.powf"), 0.5, 2},
    {"negf", UNARY("arith.negf")},
    {"exp", UNARY("math.exp")},
    {"expm1", UNARY("math.expm1")},
    {"log", UNARY("math.log"), 0.5, 2},
    {"log1p", UNARY("math.log1p"), 0.5, 2},
    {"tanh", UNARY("math.tanh")},
    {"sqrt", UNARY("math.sqrt"), 0.5, 2},
    {"rsqrt", UNARY("math.rsqrt"), 0.5, 2},
    {"erf", UNARY("math.erf")},
    {"sin", UNARY("math.sin")},
    {"cos", UNARY("math.cos")},
    {"absf", UNARY("math.absf")},
    {"floor", UNARY("math.floor"), 0.1, 0.9},
    {"select", R"(
      func.func @main(%c: tensor<3x2xi1>, %x: tensor<3x2xf64>, %z: tensor<3x2xf64>) -> tensor<3x2xf64> {
        %y = arith.select %c, %x, %z : tensor<3x2xi1>, tensor<3x2xf64>
        return %y : tensor<3x2xf64>
      })"},
    {"conversions", R"(
      func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %w = arith.extf %x : tensor<3x2xf32> to tensor<3x2xf64>
        %w2 = arith.mulf %w, %w : tensor<3x2xf64>
        %y = arith.truncf %w2 : tensor<3x2xf64> to tensor<3x2xf32>
        return %y : tensor<3x2xf32>
      })"},
    // No derivative flows through a comparison or a constant.
    {"constants", R"(
      func.func @main(%x: tensor<3x2xf64>) -> tensor<3x2xf64> {
        %k = arith.constant dense<2.5> : tensor<3x2xf64>
        %c = arith.cmpf ogt, %x, %k : tensor<3x2xf64>
        %y = arith.mulf %x, %k : tensor<3x2xf64>
        %z = arith.select %c, %k, %y : tensor<3x2xi1>, tensor<3x2xf64>
        return %z : tensor<3x2xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Elementwise, GradientTest, ::testing::ValuesIn(kElementwise), getCaseName);

const OpCase kEinsum[] = {
    {"matrix", R"(
      func.func @main(%x: tensor<2x3x4xf64>, %w: tensor<5x4xf64>) -> tensor<2x3x5xf64> {
        %y = par.einsum "bse,me->bsm"(%x, %w) : (tensor<2x3x4xf64>, tensor<5x4xf64>) -> tensor<2x3x5xf64>
        return %y : tensor<2x3x5xf64>
      })"},
    {"batched", R"(
      func.func @main(%x: tensor<2x3x4xf64>, %w: tensor<2x5x4xf64>) -> tensor<3x2x5xf64> {
        %y = par.einsum "bij,bkj->ibk"(%x, %w) : (tensor<2x3x4xf64>, tensor<2x5x4xf64>) -> tensor<3x2x5xf64>
        return %y : tensor<3x2x5xf64>
      })"},
    // Letters of one operand alone: s and k are summed there.
    {"lonelyLetters", R"(
      func.func @main(%x: tensor<2x3xf64>, %w: tensor<2x4xf64>) -> tensor<2xf64> {
        %y = par.einsum "bs,bk->b"(%x, %w) : (tensor<2x3xf64>, tensor<2x4xf64>) -> tensor<2xf64>
        return %y : tensor<2xf64>
      })"},
    {"one", R"(
      func.func @main(%x: tensor<2x3x4xf64>) -> tensor<4x2xf64> {
        %y = par.einsum "bse->eb"(%x) : (tensor<2x3x4xf64>) -> tensor<4x2xf64>
        return %y : tensor<4x2xf64>
      })"},
    {"three", R"(
      func.func @main(%x: tensor<2x3xf64>, %y: tensor<3x4xf64>, %z: tensor<4x2xf64>) -> tensor<f64> {
        %s = par.einsum "ab,bc,ca->"(%x, %y, %z) : (tensor<2x3xf64>, tensor<3x4xf64>, tensor<4x2xf64>) -> tensor<f64>
        return %s : tensor<f64>
      })"},
    {"square", R"(
      func.func @main(%x: tensor<2x3xf64>) -> tensor<2x2xf64> {
        %s = par.einsum "ab,cb->ac"(%x, %x) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x2xf64>
        return %s : tensor<2x2xf64>
      })"},
    // The sum has another type than the operands.
    {"widened", R"(
      func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf64> {
        %y = par.einsum "ab,cb->ac"(%x, %w) {acc_type = f64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf64>
        return %y : tensor<2x4xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Einsum, GradientTest, ::testing::ValuesIn(kEinsum), getCaseName);

const OpCase kShape[] = {
    {"reduceSum", R"(
      func.func @main(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
        %y = par.reduce sum %x dims [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>
        return %y : tensor<3xf64>
      })"},
    {"reduceMax", R"(
      func.func @main(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
        %y = par.reduce max %x dims [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>
        return %y : tensor<3xf64>
      })"},
    {"reduceMin", R"(
      func.func @main(%x: tensor<2x3x4xf64>) -> tensor<2x4xf64> {
        %y = par.reduce min %x dims [1] : tensor<2x3x4xf64> -> tensor<2x4xf64>
        return %y : tensor<2x4xf64>
      })"},
    {"expand", R"(
      func.func @main(%x: tensor<2x3xf64>) -> tensor<2x4x3xf64> {
        %y = par.expand %x dims [1] : tensor<2x3xf64> -> tensor<2x4x3xf64>
        return %y : tensor<2x4x3xf64>
      })"},
    {"reshape", R"(
      func.func @main(%x: tensor<2x3x4xf64>) -> tensor<6x4xf64> {
        %y = par.reshape %x : tensor<2x3x4xf64> -> tensor<6x4xf64>
        return %y : tensor<6x4xf64>
      })"},
    {"transpose", R"(
      func.func @main(%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
        %y = par.transpose %x [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>
        return %y : tensor<4x2x3xf64>
      })"},
    {"slice", R"(
      func.func @main(%x: tensor<2x5xf64>) -> tensor<2x3xf64> {
        %y = par.slice %x from [0, 1] : tensor<2x5xf64> -> tensor<2x3xf64>
        return %y : tensor<2x3xf64>
      })"},
    {"pad", R"(
      func.func @main(%x: tensor<2x3xf64>) -> tensor<3x5xf64> {
        %y = par.pad %x at [1, 2] : tensor<2x3xf64> -> tensor<3x5xf64>
        return %y : tensor<3x5xf64>
      })"},
    {"concat", R"(
      func.func @main(%x: tensor<2x3xf64>, %z: tensor<2x1xf64>) -> tensor<2x4xf64> {
        %y = par.concat %x, %z dim 1 : (tensor<2x3xf64>, tensor<2x1xf64>) -> tensor<2x4xf64>
        return %y : tensor<2x4xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Shape, GradientTest, ::testing::ValuesIn(kShape), getCaseName);

const OpCase kModel[] = {
    {"embedding", R"(
      func.func @main(%ids: tensor<2x3xi32>, %table: tensor<4x3xf64>) -> tensor<2x3x3xf64> {
        %y = par.embedding %ids, %table : (tensor<2x3xi32>, tensor<4x3xf64>) -> tensor<2x3x3xf64>
        return %y : tensor<2x3x3xf64>
      })"},
    // Rows 1 to 3 are held here: id 0 is no row.
    {"embeddingOffset", R"(
      func.func @main(%ids: tensor<6xi32>, %table: tensor<3x3xf64>, %o: tensor<i32> {test.min = 1 : i64, test.max = 2 : i64}) -> tensor<6x3xf64> {
        %y = par.embedding %ids, %table offset %o : (tensor<6xi32>, tensor<3x3xf64>, tensor<i32>) -> tensor<6x3xf64>
        return %y : tensor<6x3xf64>
      })"},
    {"takeRows", R"(
      func.func @main(%ids: tensor<5xi32>, %table: tensor<4x2x3xf64>) -> tensor<5x2x3xf64> {
        %y = par.take_rows %ids, %table : (tensor<5xi32>, tensor<4x2x3xf64>) -> tensor<5x2x3xf64>
        return %y : tensor<5x2x3xf64>
      })"},
    {"takeNumbersOffset", R"(
      func.func @main(%ids: tensor<2x3xi32>, %table: tensor<3xf64>, %o: tensor<i32> {test.min = 1 : i64, test.max = 2 : i64}) -> tensor<2x3xf64> {
        %y = par.take_rows %ids, %table offset %o : (tensor<2x3xi32>, tensor<3xf64>, tensor<i32>) -> tensor<2x3xf64>
        return %y : tensor<2x3xf64>
      })"},
    {"addRows", R"(
      func.func @main(%ids: tensor<5xi32>, %x: tensor<5x2x3xf64>) -> tensor<3x2x3xf64> {
        %y = par.add_rows %ids, %x : (tensor<5xi32>, tensor<5x2x3xf64>) -> tensor<3x2x3xf64>
        return %y : tensor<3x2x3xf64>
      })"},
    {"addOneRowOffset", R"(
      func.func @main(%id: tensor<i32> {test.min = 2 : i64, test.max = 4 : i64}, %x: tensor<3xf64>, %o: tensor<i32> {test.min = 1 : i64, test.max = 2 : i64}) -> tensor<4x3xf64> {
        %y = par.add_rows %id, %x offset %o : (tensor<i32>, tensor<3xf64>, tensor<i32>) -> tensor<4x3xf64>
        return %y : tensor<4x3xf64>
      })"},
    // The last two classes are padding.
    {"crossEntropy", R"(
      func.func @main(%x: tensor<2x3x6xf64>, %t: tensor<2x3xi32>) -> tensor<2x3xf64> {
        %loss, %lse = par.cross_entropy %x, %t {classes = 4} : (tensor<2x3x6xf64>, tensor<2x3xi32>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
        return %loss : tensor<2x3xf64>
      })"},
    {"crossEntropyIgnored", R"(
      func.func @main(%x: tensor<2x4xf64>) -> tensor<2xf64> {
        %t = arith.constant dense<[-100, 2]> : tensor<2xi32>
        %loss, %lse = par.cross_entropy %x, %t {classes = 4} : (tensor<2x4xf64>, tensor<2xi32>) -> (tensor<2xf64>, tensor<2xf64>)
        return %loss : tensor<2xf64>
      })"},
    {"dropout", R"(
      func.func @main(%x: tensor<4x6xf64>, %key: tensor<2xi32> {test.max = 1000 : i64}, %s: tensor<i32>, %o: tensor<2xi32>) -> tensor<4x6xf64> {
        %y = par.dropout %x key %key site %s row %s offsets %o {p = 0.4, strides = array<i64: 0, 1>}
            : (tensor<4x6xf64>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> tensor<4x6xf64>
        return %y : tensor<4x6xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Model, GradientTest, ::testing::ValuesIn(kModel), getCaseName);
} // namespace
