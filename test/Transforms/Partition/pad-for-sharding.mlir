// RUN: par-opt %s -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding | FileCheck %s

// Five columns over two ranks: six with padding. exp makes the padding of its zero operand one, so it is masked before it is summed.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: tensor<4x6xf32> {par.global_type = tensor<4x5xf32>
// CHECK: math.exp %{{.*}} : tensor<4x6xf32>
// CHECK: par.iota dim 1
// CHECK: arith.cmpi slt
// CHECK: %[[M:.*]] = arith.select
// CHECK: par.reduce sum %[[M]] dims [1]
par.mesh @mesh <["tp"=2]>
func.func @sum(%x: tensor<4x5xf32> {par.sharding = #par.sharding<@mesh, [{}, {"tp"}]>}) -> tensor<4xf32> {
  %e = math.exp %x : tensor<4x5xf32>
  %s = par.reduce sum %e dims [1] : tensor<4x5xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}
