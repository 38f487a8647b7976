// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @sigmoid
func.func @sigmoid(%x: tensor<8x128xbf16>) -> tensor<8x128xbf16> {
  // CHECK: par.sigmoid %{{.*}} : tensor<8x128xbf16>
  %y = par.sigmoid %x : tensor<8x128xbf16>
  return %y : tensor<8x128xbf16>
}
