// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-join-pads))" | FileCheck %s

// In the order of their places, whatever that of the additions; what else is in the sum is added.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x1xf32>, %[[B:[a-z0-9]+]]: tensor<4x2xf32>, %[[X:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK-NEXT: %[[C:.*]] = par.concat %[[A]], %[[B]] dim 1
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[C]], %[[X]]
// CHECK-NEXT: return %[[S]]
func.func @tiles(%a: tensor<4x1xf32>, %b: tensor<4x2xf32>, %x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = par.pad %b at [0, 1] : tensor<4x2xf32> -> tensor<4x3xf32>
  %1 = par.pad %a at [0, 0] : tensor<4x1xf32> -> tensor<4x3xf32>
  %2 = arith.addf %0, %x : tensor<4x3xf32>
  %3 = arith.addf %2, %1 : tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}

// A gap stays zero, an overlap a sum.
// CHECK-LABEL: func.func @gap
// CHECK-NOT: par.concat
// CHECK-LABEL: func.func @overlap
// CHECK-NOT: par.concat
// CHECK-LABEL: func.func @both
// CHECK-NOT: par.concat
func.func @gap(%a: tensor<4x1xf32>, %b: tensor<4x1xf32>) -> tensor<4x3xf32> {
  %0 = par.pad %a at [0, 0] : tensor<4x1xf32> -> tensor<4x3xf32>
  %1 = par.pad %b at [0, 2] : tensor<4x1xf32> -> tensor<4x3xf32>
  %2 = arith.addf %0, %1 : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}
func.func @overlap(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %0 = par.pad %a at [0, 0] : tensor<4x2xf32> -> tensor<4x3xf32>
  %1 = par.pad %b at [0, 1] : tensor<4x2xf32> -> tensor<4x3xf32>
  %2 = arith.addf %0, %1 : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}
// As wide together as the whole, but one over the other.
func.func @both(%a: tensor<4x1xf32>, %b: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %0 = par.pad %a at [0, 0] : tensor<4x1xf32> -> tensor<4x3xf32>
  %1 = par.pad %b at [0, 0] : tensor<4x2xf32> -> tensor<4x3xf32>
  %2 = arith.addf %0, %1 : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}
