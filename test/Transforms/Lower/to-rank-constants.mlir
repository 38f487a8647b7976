// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank,rank-plan-memory,rank-verify-program)' | FileCheck %s

// A constant is one slot for all actions and schedules; those of another size or step have their own.
// CHECK-LABEL: rank.schedule train
// CHECK-DAG: rank.slot constant "constant" workspace {{{.*}}offset = [[P:[0-9]+]] : i64, step = 1 : i64, tensor = tensor<8xi32>, value = 0 : i32}
// CHECK-DAG: rank.slot constant "constant" workspace {{{.*}}tensor = tensor<8xi32>, value = 0 : i32}
// CHECK-DAG: rank.slot constant "constant" workspace {{{.*}}offset = [[N:[0-9]+]] : i64, tensor = tensor<i32>, value = 0 : i32}
// CHECK-NOT: rank.slot constant
// CHECK: rank.action forward
// CHECK-LABEL: rank.schedule eval
// CHECK-DAG: rank.slot constant "constant" workspace {{{.*}}offset = [[P]] : i64, step = 1 : i64, tensor = tensor<8xi32>, value = 0 : i32}
// CHECK-DAG: rank.slot constant "constant" workspace {{{.*}}offset = [[N]] : i64, tensor = tensor<i32>, value = 0 : i32}
par.variable @x : tensor<8xi32> dims ["seq"] {role = #par.role<step>, init = #par.init<zeros>}
func.func @forward(%p: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}, %z: tensor<8xi32> {par.place = #par.place<constant 0 : i32>},
    %n: tensor<i32> {par.place = #par.place<constant 0 : i32>}) -> (tensor<8xi32> {par.place = #par.place<variable @x>})
    attributes {par.phase = #par.phase<forward>} {
  %0 = arith.addi %p, %z : tensor<8xi32>
  %1 = par.expand %n dims [0] : tensor<i32> -> tensor<8xi32>
  %2 = arith.addi %0, %1 : tensor<8xi32>
  return %2 : tensor<8xi32>
}
func.func @backward(%p: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}) -> (tensor<8xi32> {par.place = #par.place<variable @x>})
    attributes {par.phase = #par.phase<backward>} {
  return %p : tensor<8xi32>
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} { return }
func.func @update() attributes {par.phase = #par.phase<update>} { return }
func.func @eval(%p: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}, %n: tensor<i32> {par.place = #par.place<constant 0 : i32>})
    -> (tensor<8xi32> {par.place = #par.place<variable @x>}) attributes {par.phase = #par.phase<eval>} {
  %1 = par.expand %n dims [0] : tensor<i32> -> tensor<8xi32>
  %2 = arith.addi %p, %1 : tensor<8xi32>
  return %2 : tensor<8xi32>
}
