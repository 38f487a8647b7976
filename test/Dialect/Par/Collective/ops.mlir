// RUN: par-opt %s --verify-roundtrip | FileCheck %s

par.mesh @mesh <["dp"=2, "tp"=4]>

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<8x4xf32>, %y: tensor<8xbf16>) {
  // Two tensors in one call.
  // CHECK: par.all_reduce sum over ["dp", "tp"] %{{.*}}, %{{.*}} {par.cause = "test"} : (tensor<8x4xf32>, tensor<8xbf16>) -> (tensor<8x4xf32>, tensor<8xbf16>)
  %0:2 = par.all_reduce sum over ["dp", "tp"] %x, %y {par.cause = "test"} : (tensor<8x4xf32>, tensor<8xbf16>) -> (tensor<8x4xf32>, tensor<8xbf16>)
  // CHECK: par.all_reduce max over ["tp"]
  %1 = par.all_reduce max over ["tp"] %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: par.reduce_scatter over ["tp"] dim 1 %{{.*}} : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %2 = par.reduce_scatter over ["tp"] dim 1 %x : (tensor<8x4xf32>) -> tensor<8x1xf32>
  // CHECK: par.all_gather over ["dp"] dim 0 %{{.*}} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  %3 = par.all_gather over ["dp"] dim 0 %x : (tensor<8x4xf32>) -> tensor<16x4xf32>
  // CHECK: par.all_to_all over ["tp"] split 0 concat 1 %{{.*}} : (tensor<8x4xf32>) -> tensor<2x16xf32>
  %4 = par.all_to_all over ["tp"] split 0 concat 1 %x : (tensor<8x4xf32>) -> tensor<2x16xf32>
  // CHECK: par.all_to_all over ["tp"] split 0 concat 0 %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %5 = par.all_to_all over ["tp"] split 0 concat 0 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: par.permute over ["dp"] to [1, -1] %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = par.permute over ["dp"] to [1, -1] %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: par.collective_broadcast over ["dp"] root 1 %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = par.collective_broadcast over ["dp"] root 1 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: par.reduce_to over ["dp"] root 1 %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %8 = par.reduce_to over ["dp"] root 1 %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: par.gather over ["dp"] dim 0 root 0 %{{.*}} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  %9 = par.gather over ["dp"] dim 0 root 0 %x : (tensor<8x4xf32>) -> tensor<16x4xf32>
  // CHECK: par.scatter over ["dp"] dim 0 root 0 %{{.*}} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %10 = par.scatter over ["dp"] dim 0 root 0 %x : (tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: par.all_slice over ["dp", "tp"] dim 0 %{{.*}} : tensor<8x4xf32> -> tensor<1x4xf32>
  %11 = par.all_slice over ["dp", "tp"] dim 0 %x : tensor<8x4xf32> -> tensor<1x4xf32>
  // Two tensors that are there at the wait.
  // CHECK: %[[STARTED:.*]]:2 = par.all_gather over ["dp"] dim 0 %{{.*}}, %{{.*}} {par.started}
  // CHECK: par.wait %[[STARTED]]#0, %[[STARTED]]#1 : (tensor<16x4xf32>, tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<8x4xf32>)
  %12:2 = par.all_gather over ["dp"] dim 0 %x, %10 {par.started} : (tensor<8x4xf32>, tensor<4x4xf32>) -> (tensor<16x4xf32>, tensor<8x4xf32>)
  %13:2 = par.wait %12#0, %12#1 : (tensor<16x4xf32>, tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<8x4xf32>)
  return
}
