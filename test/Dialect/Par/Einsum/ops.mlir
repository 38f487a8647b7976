// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @einsum
func.func @einsum(%x: tensor<8x128x64xf32>, %w: tensor<256x64xf32>, %v: tensor<64xf32>, %h: tensor<4x8xbf16>) {
  // CHECK: par.einsum "bse,me->bsm"(%{{.*}}, %{{.*}}) : (tensor<8x128x64xf32>, tensor<256x64xf32>) -> tensor<8x128x256xf32>
  %0 = par.einsum "bse,me->bsm"(%x, %w) : (tensor<8x128x64xf32>, tensor<256x64xf32>) -> tensor<8x128x256xf32>
  // One operand, and three.
  // CHECK: par.einsum "bse->e"(%{{.*}}) : (tensor<8x128x64xf32>) -> tensor<64xf32>
  %1 = par.einsum "bse->e"(%x) : (tensor<8x128x64xf32>) -> tensor<64xf32>
  // CHECK: par.einsum "bse,me,e->bsm"
  %2 = par.einsum "bse,me,e->bsm"(%x, %w, %v) : (tensor<8x128x64xf32>, tensor<256x64xf32>, tensor<64xf32>) -> tensor<8x128x256xf32>
  // A scalar result; a sum in f32 of bf16 products.
  // CHECK: par.einsum "e,e->"(%{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
  %3 = par.einsum "e,e->"(%v, %v) : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
  // CHECK: par.einsum "ab,ab->a"(%{{.*}}, %{{.*}}) {acc_type = f32} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32>
  %4 = par.einsum "ab,ab->a"(%h, %h) {acc_type = f32} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32>
  return
}
