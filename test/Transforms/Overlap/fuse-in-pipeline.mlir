// RUN: par-opt %s --par-fuse-reduction=micro-batches=2 | FileCheck %s

// The stage before waits for the gradient that chunk 1's backward pass hands on: its reduction stays apart, behind the
// message. Chunk 0 hands on nothing, nor do chunk 2's gradients of weights.
par.mesh @mesh <["pp"=3, "dp"=2]>
par.variable @a : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @a.accumulator : tensor<4xf32> dims ["embed"] {role = #par.role<accumulator>, of = @a}
par.variable @a.gradient : tensor<4xf32> dims ["embed"] {role = #par.role<gradient>, of = @a, alias = @a.accumulator}
par.variable @b : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @b.accumulator : tensor<4xf32> dims ["embed"] {role = #par.role<accumulator>, of = @b}
par.variable @b.gradient : tensor<4xf32> dims ["embed"] {role = #par.role<gradient>, of = @b, alias = @b.accumulator}
par.variable @c : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @c.accumulator : tensor<4xf32> dims ["embed"] {role = #par.role<accumulator>, of = @c}
par.variable @c.gradient : tensor<4xf32> dims ["embed"] {role = #par.role<gradient>, of = @c, alias = @c.accumulator}

// CHECK: func.func @backward_0(
// CHECK: func.func @backward_0.last(
// CHECK-NOT: func.func @reduce_0
func.func @backward_0(%dy: tensor<4xf32> {par.place = #par.place<residual 0>}, %sum: tensor<4xf32> {par.place = #par.place<variable @a.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @a.accumulator>}) attributes {par.local, par.phase = #par.phase<backward, chunk = 0>} {
  %0 = arith.addf %sum, %dy : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @reduce_0(%sum: tensor<4xf32> {par.place = #par.place<variable @a.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @a.gradient>}) attributes {par.local, par.phase = #par.phase<reduce, chunk = 0>} {
  %0 = par.all_reduce sum over ["dp"] %sum : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func @backward_1(
// CHECK-NOT: func.func @backward_1.last(
// CHECK: func.func @reduce_1(
func.func @backward_1(%dy: tensor<4xf32> {par.place = #par.place<residual 0>}, %sum: tensor<4xf32> {par.place = #par.place<variable @b.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @b.accumulator>}) attributes {par.local, par.phase = #par.phase<backward, chunk = 1, stage = 1>} {
  %0 = arith.addf %sum, %dy : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @reduce_1(%sum: tensor<4xf32> {par.place = #par.place<variable @b.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @b.gradient>}) attributes {par.local, par.phase = #par.phase<reduce, chunk = 1, stage = 1>} {
  %0 = par.all_reduce sum over ["dp"] %sum : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func @backward_weight_2.last(
// CHECK-NOT: func.func @reduce_2
func.func @backward_weight_2(%dy: tensor<4xf32> {par.place = #par.place<residual 0>}, %sum: tensor<4xf32> {par.place = #par.place<variable @c.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @c.accumulator>}) attributes {par.local, par.phase = #par.phase<backward_weight, chunk = 2, stage = 2>} {
  %0 = arith.addf %sum, %dy : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @reduce_2(%sum: tensor<4xf32> {par.place = #par.place<variable @c.accumulator>})
    -> (tensor<4xf32> {par.place = #par.place<variable @c.gradient>}) attributes {par.local, par.phase = #par.phase<reduce, chunk = 2, stage = 2>} {
  %0 = par.all_reduce sum over ["dp"] %sum : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
