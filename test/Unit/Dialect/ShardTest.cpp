//===- ShardTest.cpp - rules and localize: four ranks against one ---------------------------------------===//
#include "OpTest.h"

using namespace mlir;
using namespace mlir::par;

namespace {
using ShardTest = OpTest;
TEST_P(ShardTest, fourRanksEqualOne) { checkShards(GetParam()); }

const OpCase kShape[] = {
    {"einsum", R"(
      func.func @main(%x: tensor<4x2x8xf64>, %w: tensor<4x8xf64>) -> tensor<4x2x4xf64> {
        %y = par.einsum "bse,me->bsm"(%x, %w) : (tensor<4x2x8xf64>, tensor<4x8xf64>) -> tensor<4x2x4xf64>
        return %y : tensor<4x2x4xf64>
      })"},
    {"reduceSum", R"(
      func.func @main(%x: tensor<4x4xf64>) -> tensor<4xf64> {
        %y = par.reduce sum %x dims [0] : tensor<4x4xf64> -> tensor<4xf64>
        return %y : tensor<4xf64>
      })"},
    {"reduceMax", R"(
      func.func @main(%x: tensor<4x4xf64>) -> tensor<4xf64> {
        %y = par.reduce max %x dims [0] : tensor<4x4xf64> -> tensor<4xf64>
        return %y : tensor<4xf64>
      })"},
    {"reduceMinOfBoth", R"(
      func.func @main(%x: tensor<4x4xf64>) -> tensor<f64> {
        %y = par.reduce min %x dims [0, 1] : tensor<4x4xf64> -> tensor<f64>
        return %y : tensor<f64>
      })"},
    {"expand", R"(
      func.func @main(%x: tensor<4xf64>) -> tensor<4x4xf64> {
        %y = par.expand %x dims [0] : tensor<4xf64> -> tensor<4x4xf64>
        return %y : tensor<4x4xf64>
      })"},
    {"reshapeJoins", R"(
      func.func @main(%x: tensor<4x3x4xf64>) -> tensor<12x4xf64> {
        %y = par.reshape %x : tensor<4x3x4xf64> -> tensor<12x4xf64>
        return %y : tensor<12x4xf64>
      })"},
    {"reshapeParts", R"(
      func.func @main(%x: tensor<12x4xf64>) -> tensor<4x3x4xf64> {
        %y = par.reshape %x : tensor<12x4xf64> -> tensor<4x3x4xf64>
        return %y : tensor<4x3x4xf64>
      })"},
    {"reshapeHalfNested", R"(
      func.func @main(%x: tensor<4x6x2xf64>) -> tensor<4x4x3xf64> {
        %y = par.reshape %x : tensor<4x6x2xf64> -> tensor<4x4x3xf64>
        return %y : tensor<4x4x3xf64>
      })"},
    {"transpose", R"(
      func.func @main(%x: tensor<4x8xf64>) -> tensor<8x4xf64> {
        %y = par.transpose %x [1, 0] : tensor<4x8xf64> -> tensor<8x4xf64>
        return %y : tensor<8x4xf64>
      })"},
    {"slice", R"(
      func.func @main(%x: tensor<4x8xf64>) -> tensor<4x4xf64> {
        %y = par.slice %x from [0, 3] : tensor<4x8xf64> -> tensor<4x4xf64>
        return %y : tensor<4x4xf64>
      })"},
    {"pad", R"(
      func.func @main(%x: tensor<4x4xf64>) -> tensor<4x8xf64> {
        %y = par.pad %x at [0, 3] : tensor<4x4xf64> -> tensor<4x8xf64>
        return %y : tensor<4x8xf64>
      })"},
    {"concat", R"(
      func.func @main(%x: tensor<4x4xf64>, %z: tensor<4x2xf64>) -> tensor<4x6xf64> {
        %y = par.concat %x, %z dim 1 : (tensor<4x4xf64>, tensor<4x2xf64>) -> tensor<4x6xf64>
        return %y : tensor<4x6xf64>
      })"},
    {"iota", R"(
      func.func @main() -> tensor<4x8xi32> {
        %y = par.iota dim 1 : tensor<4x8xi32>
        return %y : tensor<4x8xi32>
      })"},
    {"iota64", R"(
      func.func @main() -> tensor<8x4xi64> {
        %y = par.iota dim 0 : tensor<8x4xi64>
        return %y : tensor<8x4xi64>
      })"},
    {"splat", R"(
      func.func @main() -> tensor<8x4xf64> {
        %y = arith.constant dense<3.5> : tensor<8x4xf64>
        return %y : tensor<8x4xf64>
      })"},
    {"select", R"(
      func.func @main(%c: tensor<4x4xi1>, %x: tensor<4x4xf64>, %z: tensor<4x4xf64>) -> tensor<4x4xf64> {
        %y = arith.select %c, %x, %z : tensor<4x4xi1>, tensor<4x4xf64>
        return %y : tensor<4x4xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Shape, ShardTest, ::testing::ValuesIn(kShape), getCaseName);

const OpCase kModel[] = {
    {"embedding", R"(
      func.func @main(%ids: tensor<4x4xi32> {test.max = 8 : i64}, %table: tensor<8x4xf64>) -> tensor<4x4x4xf64> {
        %y = par.embedding %ids, %table : (tensor<4x4xi32>, tensor<8x4xf64>) -> tensor<4x4x4xf64>
        return %y : tensor<4x4x4xf64>
      })"},
    {"embeddingPadding", R"(
      func.func @main(%ids: tensor<4x4xi32> {test.max = 8 : i64}, %table: tensor<8x4xf64>) -> tensor<4x4x4xf64> {
        %y = par.embedding %ids, %table {padding = 3 : i64} : (tensor<4x4xi32>, tensor<8x4xf64>) -> tensor<4x4x4xf64>
        return %y : tensor<4x4x4xf64>
      })"},
    {"embeddingOffset", R"(
      func.func @main(%ids: tensor<4x4xi32> {test.max = 12 : i64}, %table: tensor<8x4xf64>, %o: tensor<i32>) -> tensor<4x4x4xf64> {
        %y = par.embedding %ids, %table offset %o : (tensor<4x4xi32>, tensor<8x4xf64>, tensor<i32>) -> tensor<4x4x4xf64>
        return %y : tensor<4x4x4xf64>
      })"},
    {"embeddingBackward", R"(
      func.func @main(%ids: tensor<4x4xi32> {test.max = 8 : i64}, %dy: tensor<4x4x4xf64>) -> tensor<8x4xf64> {
        %y = par.embedding_backward %ids, %dy : (tensor<4x4xi32>, tensor<4x4x4xf64>) -> tensor<8x4xf64>
        return %y : tensor<8x4xf64>
      })"},
    // Ids, rows of the table and both dimensions of a row are split in turn.
    {"takeRows", R"(
      func.func @main(%ids: tensor<4xi32> {test.max = 9 : i64}, %table: tensor<8x4x4xf64>) -> tensor<4x4x4xf64> {
        %y = par.take_rows %ids, %table : (tensor<4xi32>, tensor<8x4x4xf64>) -> tensor<4x4x4xf64>
        return %y : tensor<4x4x4xf64>
      })"},
    {"takeNumbersOffset", R"(
      func.func @main(%ids: tensor<4x4xi32> {test.max = 12 : i64}, %table: tensor<8xf64>, %o: tensor<i32>) -> tensor<4x4xf64> {
        %y = par.take_rows %ids, %table offset %o : (tensor<4x4xi32>, tensor<8xf64>, tensor<i32>) -> tensor<4x4xf64>
        return %y : tensor<4x4xf64>
      })"},
    {"takeOneRow", R"(
      func.func @main(%id: tensor<i32> {test.max = 8 : i64}, %table: tensor<8x4xf64>) -> tensor<4xf64> {
        %y = par.take_rows %id, %table : (tensor<i32>, tensor<8x4xf64>) -> tensor<4xf64>
        return %y : tensor<4xf64>
      })"},
    {"addRows", R"(
      func.func @main(%ids: tensor<4xi32> {test.max = 9 : i64}, %x: tensor<4x4x4xf64>) -> tensor<8x4x4xf64> {
        %y = par.add_rows %ids, %x : (tensor<4xi32>, tensor<4x4x4xf64>) -> tensor<8x4x4xf64>
        return %y : tensor<8x4x4xf64>
      })"},
    {"addNumbersOffset", R"(
      func.func @main(%ids: tensor<4x4xi32> {test.max = 12 : i64}, %x: tensor<4x4xf64>, %o: tensor<i32>) -> tensor<8xf64> {
        %y = par.add_rows %ids, %x offset %o : (tensor<4x4xi32>, tensor<4x4xf64>, tensor<i32>) -> tensor<8xf64>
        return %y : tensor<8xf64>
      })"},
    {"addOneRow", R"(
      func.func @main(%id: tensor<i32> {test.max = 8 : i64}, %x: tensor<4xf64>) -> tensor<8x4xf64> {
        %y = par.add_rows %id, %x : (tensor<i32>, tensor<4xf64>) -> tensor<8x4xf64>
        return %y : tensor<8x4xf64>
      })"},
    // Of four ranks the last holds only padding: classes 6 and 7.
    {"crossEntropy", R"(
      func.func @main(%x: tensor<4x2x8xf64>, %t: tensor<4x2xi32> {test.max = 6 : i64}) -> (tensor<4x2xf64>, tensor<4x2xf64>) {
        %loss, %lse = par.cross_entropy %x, %t {classes = 6} : (tensor<4x2x8xf64>, tensor<4x2xi32>) -> (tensor<4x2xf64>, tensor<4x2xf64>)
        return %loss, %lse : tensor<4x2xf64>, tensor<4x2xf64>
      })"},
    {"crossEntropyIgnored", R"(
      func.func @main(%x: tensor<4x8xf64>, %t: tensor<4xi32> {test.min = -100 : i64, test.max = -99 : i64}) -> (tensor<4xf64>, tensor<4xf64>) {
        %loss, %lse = par.cross_entropy %x, %t {classes = 8} : (tensor<4x8xf64>, tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf64>)
        return %loss, %lse : tensor<4xf64>, tensor<4xf64>
      })"},
    {"crossEntropyLarge", R"(
      func.func @main(%x: tensor<4x8xf64>, %t: tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf64>) {
        %loss, %lse = par.cross_entropy %x, %t {classes = 8} : (tensor<4x8xf64>, tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf64>)
        return %loss, %lse : tensor<4xf64>, tensor<4xf64>
      })",
     800, 2000},
    {"crossEntropyBackward", R"(
      func.func @main(%d: tensor<4x2xf64>, %x: tensor<4x2x8xf64>, %t: tensor<4x2xi32>, %l: tensor<4x2xf64>) -> tensor<4x2x8xf64> {
        %y = par.cross_entropy_backward %d, %x, %t, %l {classes = 6}
            : (tensor<4x2xf64>, tensor<4x2x8xf64>, tensor<4x2xi32>, tensor<4x2xf64>) -> tensor<4x2x8xf64>
        return %y : tensor<4x2x8xf64>
      })"},
    {"dropout", R"(
      func.func @main(%x: tensor<4x4x8xf64>, %key: tensor<2xi32> {test.max = 1000 : i64}, %s: tensor<i32>, %r: tensor<i32>, %o: tensor<3xi32>) -> tensor<4x4x8xf64> {
        %y = par.dropout %x key %key site %s row %r offsets %o {p = 0.5, strides = array<i64: 0, 8, 1>}
            : (tensor<4x4x8xf64>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<3xi32>) -> tensor<4x4x8xf64>
        return %y : tensor<4x4x8xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(Model, ShardTest, ::testing::ValuesIn(kModel), getCaseName);
} // namespace
