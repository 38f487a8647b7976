// RUN: par-opt %s -split-input-file -par-differentiate-pipeline=evaluation=false | FileCheck %s

// A layer that cannot accumulate itself, since one parameter is two of its arguments, returns gradients as sums in f32: they are
// rounded nowhere on their way to the accumulator.
// CHECK-LABEL: func.func private @twice.backward
// CHECK-SAME: -> (tensor<4x2xbf16>, tensor<3x2xf32>, tensor<3x2xf32>)
// CHECK-LABEL: func.func @backward(
// CHECK-NOT: arith.extf {{.*}}tensor<3x2xf32>
// CHECK: par.call @twice.backward({{.*}}) : {{.*}} -> (tensor<4x2xbf16>, tensor<3x2xf32>, tensor<3x2xf32>)
// CHECK-NOT: arith.extf {{.*}}tensor<3x2xf32>
// CHECK: return
par.variable @x : tensor<4x2xbf16> dims ["rows", "embed"] {role = #par.role<parameter>}
par.variable @w : tensor<3x2xbf16> dims ["mlp", "embed"] {role = #par.role<parameter>}

func.func private @twice(%x: tensor<4x2xbf16>, %a: tensor<3x2xbf16>, %b: tensor<3x2xbf16>) -> tensor<4x3xbf16> {
  %p = par.einsum "be,me->bm"(%x, %a) : (tensor<4x2xbf16>, tensor<3x2xbf16>) -> tensor<4x3xbf16>
  %q = par.einsum "be,me->bm"(%x, %b) : (tensor<4x2xbf16>, tensor<3x2xbf16>) -> tensor<4x3xbf16>
  %y = arith.mulf %p, %q : tensor<4x3xbf16>
  return %y : tensor<4x3xbf16>
}

func.func @forward(%x: tensor<4x2xbf16> {par.place = #par.place<variable @x>}, %w: tensor<3x2xbf16> {par.place = #par.place<variable @w>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  // An activation, so that only @w is a parameter of the layer.
  %t = math.tanh %x : tensor<4x2xbf16>
  %y = par.call @twice(%t, %w, %w) : (tensor<4x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<4x3xbf16>
  %loss = par.reduce sum %y dims [0, 1] : tensor<4x3xbf16> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A table of positions: the sum over the batch is not rounded before it is summed up by position.
// CHECK-LABEL: func.func private @positions.backward
// CHECK: %[[SUM:.*]] = par.reduce {{ *}}sum %{{.*}} dims [0] : tensor<3x4x2xbf16> -> tensor<4x2xf32>
// CHECK: par.embedding_backward %{{.*}}, %[[SUM]] : (tensor<4xi32>, tensor<4x2xf32>) -> tensor<4x2xf32>
par.variable @table : tensor<4x2xbf16> dims ["positions", "embed"] {role = #par.role<parameter>}

func.func private @positions(%t: tensor<4x2xbf16>) -> tensor<3x4x2xbf16> {
  %i = par.iota dim 0 : tensor<4xi32>
  %r = par.embedding %i, %t : (tensor<4xi32>, tensor<4x2xbf16>) -> tensor<4x2xbf16>
  %y = par.expand %r dims [0] : tensor<4x2xbf16> -> tensor<3x4x2xbf16>
  return %y : tensor<3x4x2xbf16>
}

func.func @forward(%t: tensor<4x2xbf16> {par.place = #par.place<variable @table>}) -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %y = par.call @positions(%t) : (tensor<4x2xbf16>) -> tensor<3x4x2xbf16>
  %loss = par.reduce sum %y dims [0, 1, 2] : tensor<3x4x2xbf16> -> tensor<f32>
  return %loss : tensor<f32>
}
