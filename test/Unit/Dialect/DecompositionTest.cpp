//===- DecompositionTest.cpp - composite ops against their meaning --------------------------------------===//
#include "OpTest.h"

using namespace mlir;
using namespace mlir::par;

namespace {
using DecompositionTest = OpTest;
TEST_P(DecompositionTest, keepsTheMeaning) { checkDecomposition(GetParam()); }

const OpCase kCases[] = {
    // Targets that count, the one that does not (−100), and a class that is padding (4, 5).
    {"crossEntropy", R"(
      func.func @main(%x: tensor<2x3x6xf64>, %t: tensor<2x3xi32> {test.min = -1 : i64, test.max = 6 : i64}) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
        %loss, %lse = par.cross_entropy %x, %t {classes = 4} : (tensor<2x3x6xf64>, tensor<2x3xi32>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
        return %loss, %lse : tensor<2x3xf64>, tensor<2x3xf64>
      })"},
    {"crossEntropyIgnored", R"(
      func.func @main(%x: tensor<2x4xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
        %t = arith.constant dense<[-100, 2]> : tensor<2xi64>
        %loss, %lse = par.cross_entropy %x, %t {classes = 4} : (tensor<2x4xf64>, tensor<2xi64>) -> (tensor<2xf64>, tensor<2xf64>)
        return %loss, %lse : tensor<2xf64>, tensor<2xf64>
      })"},
    // Logits beyond what exp holds.
    {"crossEntropyLarge", R"(
      func.func @main(%x: tensor<4x5xf64>, %t: tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf64>) {
        %loss, %lse = par.cross_entropy %x, %t {classes = 5} : (tensor<4x5xf64>, tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf64>)
        return %loss, %lse : tensor<4xf64>, tensor<4xf64>
      })",
     800, 2000},
    {"shard", R"(
      func.func @main(%x: tensor<2x3x4xf64>, %t: tensor<2x3xi32> {test.max = 9 : i64}, %o: tensor<i32> {test.min = 4 : i64, test.max = 5 : i64}) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
        %lse, %picked = par.cross_entropy_shard %x, %t offset %o {classes = 7} : (tensor<2x3x4xf64>, tensor<2x3xi32>, tensor<i32>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
        return %lse, %picked : tensor<2x3xf64>, tensor<2x3xf64>
      })"},
    // A rank that holds nothing but padding: lse is −∞.
    {"shardOfPadding", R"(
      func.func @main(%x: tensor<3x4xf64>, %t: tensor<3xi32> {test.max = 9 : i64}, %o: tensor<i32> {test.min = 8 : i64, test.max = 9 : i64}) -> (tensor<3xf64>, tensor<3xf64>) {
        %lse, %picked = par.cross_entropy_shard %x, %t offset %o {classes = 7} : (tensor<3x4xf64>, tensor<3xi32>, tensor<i32>) -> (tensor<3xf64>, tensor<3xf64>)
        return %lse, %picked : tensor<3xf64>, tensor<3xf64>
      })"},
    {"backward", R"(
      func.func @main(%d: tensor<2x3xf64>, %x: tensor<2x3x6xf64>, %t: tensor<2x3xi32>, %l: tensor<2x3xf64>) -> tensor<2x3x6xf64> {
        %y = par.cross_entropy_backward %d, %x, %t, %l {classes = 4}
            : (tensor<2x3xf64>, tensor<2x3x6xf64>, tensor<2x3xi32>, tensor<2x3xf64>) -> tensor<2x3x6xf64>
        return %y : tensor<2x3x6xf64>
      })"},
    {"backwardOffset", R"(
      func.func @main(%d: tensor<2xf64>, %x: tensor<2x4xf64>, %l: tensor<2xf64>, %o: tensor<i32> {test.min = 4 : i64, test.max = 5 : i64}) -> tensor<2x4xf64> {
        %t = arith.constant dense<[-100, 5]> : tensor<2xi32>
        %y = par.cross_entropy_backward %d, %x, %t, %l offset %o {classes = 7}
            : (tensor<2xf64>, tensor<2x4xf64>, tensor<2xi32>, tensor<2xf64>, tensor<i32>) -> tensor<2x4xf64>
        return %y : tensor<2x4xf64>
      })"},
};
INSTANTIATE_TEST_SUITE_P(CrossEntropy, DecompositionTest, ::testing::ValuesIn(kCases), getCaseName);
} // namespace
