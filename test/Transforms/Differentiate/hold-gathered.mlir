// RUN: par-opt %s -par-hold-gathered | FileCheck %s

// What is stored in parts is read once, by @gather; micro-batches read the copy, evaluation and the update the parameter. Whole parameters stay.
// CHECK: par.variable @w
// CHECK-NEXT: par.variable @w.gathered : tensor<8xf32> dims ["a"] {compute = #par.sharding<@mesh, [{}]>, init = #par.init<zeros>, of = @w, role = #par.role<gathered>}
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: par.place = #par.place<variable @w>,
// CHECK-SAME: -> (tensor<8xf32> {par.place = #par.place<variable @w.gathered>,
// CHECK-SAME: par.phase = #par.phase<gather, chunk = 0>
// CHECK-NEXT: return %arg0
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: par.place = #par.place<variable @w.gathered>
// CHECK-SAME: par.place = #par.place<variable @v>
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: par.place = #par.place<variable @w.gathered>
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: {par.place = #par.place<variable @w>}
// CHECK-LABEL: func.func @update(
// CHECK-SAME: {par.place = #par.place<variable @w>}
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>, storage = #par.sharding<@mesh, [{"dp"}]>}
par.variable @v : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>}
func.func @forward(%w: tensor<8xf32> {par.place = #par.place<variable @w>}, %v: tensor<8xf32> {par.place = #par.place<variable @v>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
func.func @backward(%w: tensor<8xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  return
}
func.func @eval(%w: tensor<8xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<eval, chunk = 0>} {
  return
}
func.func @update(%w: tensor<8xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  return
}
