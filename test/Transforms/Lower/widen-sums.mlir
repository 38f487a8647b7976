// RUN: par-opt %s -pass-pipeline="builtin.module(func.func(par-widen-sums))" | FileCheck %s

// Rows are added up in the result's memory: in f32, and rounded once.
// CHECK-LABEL: func.func @leading
// CHECK: %[[SUM:.*]] = par.reduce {{ *}}sum %arg0 dims [0] : tensor<8x64xbf16> -> tensor<64xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : tensor<64xf32> to tensor<64xbf16>
// CHECK: return %[[ROUNDED]]
func.func @leading(%x: tensor<8x64xbf16>) -> tensor<64xbf16> {
  %0 = par.reduce sum %x dims [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// A sum over the last dimension, one of all elements, a maximum, and what is wide enough: as they are.
// CHECK-LABEL: func.func @untouched
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @untouched(%x: tensor<8x64xbf16>, %y: tensor<8x64xf32>) -> (tensor<8xbf16>, tensor<bf16>, tensor<64xbf16>, tensor<64xf32>) {
  %0 = par.reduce sum %x dims [1] : tensor<8x64xbf16> -> tensor<8xbf16>
  %1 = par.reduce sum %x dims [0, 1] : tensor<8x64xbf16> -> tensor<bf16>
  %2 = par.reduce max %x dims [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %3 = par.reduce sum %y dims [0] : tensor<8x64xf32> -> tensor<64xf32>
  return %0, %1, %2, %3 : tensor<8xbf16>, tensor<bf16>, tensor<64xbf16>, tensor<64xf32>
}

// Of a norm the gradients of its parameters, not that of its input; a product is none of these.
// CHECK-LABEL: func.func @gradients
// CHECK: par.rms_norm_backward {{.*}} -> (tensor<8x64xbf16>, tensor<64xf32>)
// CHECK: arith.truncf {{.*}} : tensor<64xf32> to tensor<64xbf16>
// CHECK: par.embedding_backward {{.*}} -> tensor<32x64xf32>
// CHECK: arith.truncf {{.*}} : tensor<32x64xf32> to tensor<32x64xbf16>
// CHECK: par.einsum {{.*}} -> tensor<64x64xbf16>
func.func @gradients(%x: tensor<8x64xbf16>, %w: tensor<64xbf16>, %r: tensor<8xf32>, %ids: tensor<8xi32>)
    -> (tensor<8x64xbf16>, tensor<64xbf16>, tensor<32x64xbf16>, tensor<64x64xbf16>) {
  %dx, %dw = par.rms_norm_backward %x, %x, %w, %r : (tensor<8x64xbf16>, tensor<8x64xbf16>, tensor<64xbf16>, tensor<8xf32>) -> (tensor<8x64xbf16>, tensor<64xbf16>)
  %t = par.embedding_backward %ids, %x : (tensor<8xi32>, tensor<8x64xbf16>) -> tensor<32x64xbf16>
  %p = par.einsum "bi,bj->ij"(%x, %x) : (tensor<8x64xbf16>, tensor<8x64xbf16>) -> tensor<64x64xbf16>
  return %dx, %dw, %t, %p : tensor<8x64xbf16>, tensor<64xbf16>, tensor<32x64xbf16>, tensor<64x64xbf16>
}
