// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-form-kernels))" | FileCheck %s
// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-form-kernels),par-print-buffer-assignment)" 2>&1 | FileCheck %s --check-prefix=BUFFERS

// On a GPU the squares of all gradients and the root of their sum are one kernel.
module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
// CHECK-LABEL: func.func private @norm
// CHECK: par.einsum {{.*}}{par.kernel = [[#K:]] : i64}
// CHECK: par.einsum {{.*}}{par.kernel = [[#K]] : i64}
// CHECK: par.einsum {{.*}}{par.kernel = [[#K]] : i64}
// CHECK: arith.addf {{.*}}par.kernel = [[#K]] : i64
// CHECK: arith.addf {{.*}}par.kernel = [[#K]] : i64
// CHECK: math.sqrt {{.*}}par.kernel = [[#K]] : i64
func.func private @norm(%a: tensor<4x8xf32>, %b: tensor<3xf32>, %c: tensor<4x8xbf16>) -> tensor<f32> {
  %0 = par.einsum "xy,xy->"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  %1 = par.einsum "x,x->"(%b, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %2 = par.einsum "xy,xy->"(%c, %c) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<f32>
  %3 = arith.addf %0, %1 : tensor<f32>
  %4 = arith.addf %2, %3 : tensor<f32>
  %5 = math.sqrt %4 : tensor<f32>
  return %5 : tensor<f32>
}

// A product that is needed alone is no part of a list, nor is a sum that it belongs to.
// CHECK-LABEL: func.func private @needed
// CHECK-NOT: par.einsum {{.*}}par.kernel
// CHECK: return
func.func private @needed(%a: tensor<4x8xf32>, %b: tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = par.einsum "xy,xy->"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  %1 = par.einsum "x,x->"(%b, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %3 = arith.addf %0, %1 : tensor<f32>
  return %0, %3 : tensor<f32>, tensor<f32>
}

// Updates of several variables are one kernel; one that needs what another one makes is not part of it.
// CHECK-LABEL: func.func private @update
// CHECK: par.sgd {{.*}}{decay, par.kernel = [[#U:]] : i64}
// CHECK: par.sgd {{.*}}{par.kernel = [[#U]] : i64}
// CHECK-NOT: par.sgd {{.*}}par.kernel = [[#U]] : i64
// CHECK: return
func.func private @update(%p: tensor<8x8xf32>, %q: tensor<4x8xf32>, %g: tensor<8x8xf32>, %h: tensor<4x8xf32>, %lr: tensor<f32>, %wd: tensor<f32>)
    -> (tensor<8x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) {
  %0 = par.sgd %p, %g scalars %lr, %wd, %lr {decay} : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  %1 = par.sgd %q, %h scalars %lr, %wd, %lr : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = par.transpose %0 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %3 = par.sgd %2, %g scalars %lr, %wd, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  return %0, %1, %3 : tensor<8x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>
}

// Biases' gradients, which products' calls have summed up, are added to their accumulators by one kernel. One that somebody waits for has its own.
// CHECK-LABEL: func.func private @biases
// CHECK-DAG: arith.addf %{{.*}} {par.kernel = [[#B:]] : i64} : tensor<16xf32>
// CHECK-DAG: arith.addf %{{.*}} {par.kernel = [[#B]] : i64} : tensor<24xf32>
// CHECK-NOT: arith.addf {{.*}}par.kernel = [[#B]] : i64
// CHECK: return
func.func private @biases(%d: tensor<4x16xbf16>, %g: tensor<4x24xbf16>, %x: tensor<4x16xbf16>, %s: tensor<f32>, %v: tensor<16x16xf32>, %w: tensor<24x16xf32>, %b: tensor<16xf32>, %c: tensor<24xf32>, %a: tensor<16xf32>)
    -> (tensor<16x16xf32>, tensor<24x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<24xf32>, tensor<16xf32>) {
  %s2 = par.expand %s dims [0, 1] : tensor<f32> -> tensor<16x16xf32>
  %t2 = par.expand %s dims [0, 1] : tensor<f32> -> tensor<24x16xf32>
  %s1 = par.expand %s dims [0] : tensor<f32> -> tensor<16xf32>
  %t1 = par.expand %s dims [0] : tensor<f32> -> tensor<24xf32>
  %0 = par.einsum "ik,ij->kj"(%d, %x) : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<16x16xf32>
  %1 = arith.mulf %s2, %v : tensor<16x16xf32>
  %2 = arith.addf %1, %0 : tensor<16x16xf32>
  %3 = par.reduce sum %d dims [0] : tensor<4x16xbf16> -> tensor<16xf32>
  %4 = arith.mulf %s1, %b : tensor<16xf32>
  %5 = arith.addf %4, %3 : tensor<16xf32>
  %6 = par.einsum "ik,ij->kj"(%g, %x) : (tensor<4x24xbf16>, tensor<4x16xbf16>) -> tensor<24x16xf32>
  %7 = arith.mulf %t2, %w : tensor<24x16xf32>
  %8 = arith.addf %7, %6 : tensor<24x16xf32>
  %9 = par.reduce sum %g dims [0] : tensor<4x24xbf16> -> tensor<24xf32>
  %10 = arith.mulf %t1, %c : tensor<24xf32>
  %11 = arith.addf %10, %9 : tensor<24xf32>
  %12 = par.einsum "ik,ij->kj"(%x, %d) : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<16x16xf32>
  %13 = par.reduce sum %x dims [0] : tensor<4x16xbf16> -> tensor<16xf32>
  %14 = arith.mulf %s1, %a : tensor<16xf32>
  %15 = arith.addf %14, %13 : tensor<16xf32>
  %16 = arith.mulf %15, %15 : tensor<16xf32>
  return %2, %8, %12, %5, %11, %16 : tensor<16x16xf32>, tensor<24x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<24xf32>, tensor<16xf32>
}

// What one of a list reads is not written over by another one, though all have one shape: who is first is open.
// BUFFERS: par.transpose %arg2
// BUFFERS: remark: %new_param: writes result 0
// BUFFERS: remark: %new_param_0: reuses %1
// BUFFERS-NEXT: par.sgd %p, %h
func.func private @apart(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %lr: tensor<f32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %g = par.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %h = par.transpose %y [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %0 = par.sgd %q, %g scalars %lr, %lr, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  %1 = par.sgd %p, %h scalars %lr, %lr, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  %2 = par.transpose %1 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
}
