// RUN: par-opt %s -par-hold-gathered | FileCheck %s

// What is stored in parts is read once, by @gather; micro-batches read the copy, evaluation and the update the parameter. Whole parameters stay.
// CHECK: par.variable @w
// CHECK-NEXT: par.variable @w.gathered : tensor<8xf32> dims ["a"] {compute = #par.sharding<@mesh, [{}]>, init = #par.init<zeros>, of = @w, role = #par.role<gathered>}
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: par.bind = @w,
// CHECK-SAME: -> (tensor<8xf32> {par.bind = @w.gathered,
// CHECK-SAME: par.phase = "gather"
// CHECK-NEXT: return %arg0
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: par.bind = @w.gathered
// CHECK-SAME: par.bind = @v
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: par.bind = @w.gathered
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: {par.bind = @w}
// CHECK-LABEL: func.func @update(
// CHECK-SAME: {par.bind = @w}
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>, storage = #par.sharding<@mesh, [{"dp"}]>}
par.variable @v : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>}
func.func @forward(%w: tensor<8xf32> {par.bind = @w}, %v: tensor<8xf32> {par.bind = @v}) attributes {par.chunk = 0 : i64, par.phase = "forward"} {
  return
}
func.func @backward(%w: tensor<8xf32> {par.bind = @w}) attributes {par.chunk = 0 : i64, par.phase = "backward"} {
  return
}
func.func @eval(%w: tensor<8xf32> {par.bind = @w}) attributes {par.chunk = 0 : i64, par.phase = "eval"} {
  return
}
func.func @update(%w: tensor<8xf32> {par.bind = @w}) attributes {par.chunk = 0 : i64, par.phase = "update"} {
  return
}
