// RUN: par-opt %s -pass-pipeline='builtin.module(func.func(par-form-kernels),par-to-rank)' | FileCheck %s

// On a device a sum of all products is a kernel, with scratch for the sums of its 256 slices; other products are the
// library's.
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
par.variable @x : tensor<4096x512xf32> dims ["a", "b"] {role = #par.role<parameter>, init = #par.init<zeros>}

// CHECK-LABEL: rank.func @forward
// CHECK: %[[SCRATCH:.*]] = rank.alloc{{ +}}workspace : <1024>
// CHECK-NEXT: rank.kernel ins(%arg0 : {{.*}}) outs({{.*}}) scratch(%[[SCRATCH]] : !rank.buffer<1024>)
// CHECK: rank.gemm
func.func @forward(%x: tensor<4096x512xf32> {par.place = #par.place<variable @x>})
    -> (tensor<f32> {par.place = #par.place<residual 0>}, tensor<512x512xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %0 = par.einsum "ab,ab->"(%x, %x) : (tensor<4096x512xf32>, tensor<4096x512xf32>) -> tensor<f32>
  %1 = par.einsum "ki,kj->ij"(%x, %x) : (tensor<4096x512xf32>, tensor<4096x512xf32>) -> tensor<512x512xf32>
  return %0, %1 : tensor<f32>, tensor<512x512xf32>
}
func.func @backward(%r: tensor<f32> {par.place = #par.place<residual 0>}, %s: tensor<512x512xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce, chunk = 0>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update, chunk = 0>} {
  return
}
}
