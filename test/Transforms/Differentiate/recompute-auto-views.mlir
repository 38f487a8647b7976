// RUN: par-opt %s -par-select-residuals='recompute=auto limit=1048576' | FileCheck %s

// Products find slices where the joint projection lies, and positions cost nothing: what is held is the projection, as a whole. Two slices beside each other
// would be as many bytes, but copies.
// CHECK-LABEL: func.func private @layer(
// CHECK: par.einsum "se,fe->sf"(%{{[^)]*}}) :
// CHECK: arith.addf {{.*}}par.save = array<i64: 0>
// CHECK-NOT: par.save
// CHECK: par.einsum "sf,tf->st"
par.variable @x : tensor<64x32xf32> dims ["seq", "embed"] {role = #par.role<step>}
par.variable @w : tensor<64x32xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @b : tensor<64xf32> dims ["mlp"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<64x32xf32>, %w: tensor<64x32xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = par.einsum "se,fe->sf"(%x, %w) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %1 = par.expand %b dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = arith.addf %0, %1 : tensor<64x64xf32>
  %3 = par.slice %2 from [0, 0] : tensor<64x64xf32> -> tensor<64x32xf32>
  %4 = par.slice %2 from [0, 32] : tensor<64x64xf32> -> tensor<64x32xf32>
  %5 = par.einsum "sf,tf->st"(%3, %4) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  return %5 : tensor<64x64xf32>
}
func.func @forward(%x: tensor<64x32xf32> {par.place = #par.place<variable @x>}, %w: tensor<64x32xf32> {par.place = #par.place<variable @w>}, %b: tensor<64xf32> {par.place = #par.place<variable @b>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %y = par.call @layer(%x, %w, %b) : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %z = math.sin %y : tensor<64x64xf32>
  %loss = par.reduce sum %z dims [0, 1] : tensor<64x64xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
