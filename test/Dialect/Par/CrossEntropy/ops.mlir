// RUN: par-opt %s --verify-roundtrip | par-opt | FileCheck %s

// CHECK-LABEL: func.func @cross_entropy
func.func @cross_entropy(%x: tensor<8x4x9xbf16>, %t: tensor<8x4xi32>, %o: tensor<i32>) {
  // CHECK: par.cross_entropy %{{.*}}, %{{.*}} {classes = 7 : i64} : (tensor<8x4x9xbf16>, tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %loss, %lse = par.cross_entropy %x, %t {classes = 7} : (tensor<8x4x9xbf16>, tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  // CHECK: par.cross_entropy_shard %{{.*}}, %{{.*}} offset %{{.*}} {classes = 7 : i64} : (tensor<8x4x9xbf16>, tensor<8x4xi32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %0:2 = par.cross_entropy_shard %x, %t offset %o {classes = 7} : (tensor<8x4x9xbf16>, tensor<8x4xi32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  // CHECK: par.cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {classes = 7 : i64} :
  %1 = par.cross_entropy_backward %loss, %x, %t, %lse {classes = 7}
      : (tensor<8x4xf32>, tensor<8x4x9xbf16>, tensor<8x4xi32>, tensor<8x4xf32>) -> tensor<8x4x9xbf16>
  // CHECK: par.cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} offset %{{.*}} {classes = 7 : i64} :
  %2 = par.cross_entropy_backward %loss, %x, %t, %lse offset %o {classes = 7}
      : (tensor<8x4xf32>, tensor<8x4x9xbf16>, tensor<8x4xi32>, tensor<8x4xf32>, tensor<i32>) -> tensor<8x4x9xbf16>
  return
}
