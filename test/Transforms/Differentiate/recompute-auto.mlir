// RUN: par-opt %s -par-select-residuals='recompute=auto limit=98816' | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: par-opt %s -par-select-residuals='recompute=auto limit=98815' | FileCheck %s --check-prefixes=CHECK,LOOKUP
// RUN: par-opt %s -par-select-residuals='recompute=auto limit=66048' | FileCheck %s --check-prefixes=CHECK,SINE
// RUN: par-opt %s -par-select-residuals='recompute=auto limit=57855' | FileCheck %s --check-prefixes=CHECK,LESS
// RUN: par-opt %s -par-select-residuals='recompute=auto limit=40959' | FileCheck %s --check-prefixes=CHECK,LEAST
// RUN: not par-opt %s -par-select-residuals='recompute=auto limit=8191' 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: par-opt %s -par-differentiate-pipeline='recompute=auto recompute-limit=57855' | FileCheck %s --check-prefix=PIPELINE

// Two layers' inputs (8192 bytes each) are held; each layer may hold its norm (8192 + 256) its product with a parameter (16384) and the sine of that (16384), in all 98816 bytes.
// A sine costs nothing in a kernel, but a product of the backward pass reads this one from memory: holding it saves a kernel that writes it again. First the lookup that makes the first layer's input is run again, which takes the least time per byte, then sines, the norm, then the product too. The second layer's
// input is the result of a call: it is held in any case.
// ERROR: error: par-select-residuals: a micro-batch saves at least 8192 bytes per rank, whatever is run again, but the limit is 8191; give at least that, or split the batch into more micro-batches
// CHECK-LABEL: func.func private @layer(
// ALL: par.rms_norm {{.*}}par.save = array<i64: 0, 1>
// ALL: par.einsum "se,fe->sf"{{.*}}par.save = array<i64: 0>
// ALL: math.sin {{.*}}par.save = array<i64: 0>
// LOOKUP: par.rms_norm {{.*}}par.save = array<i64: 0, 1>
// LOOKUP: par.einsum "se,fe->sf"{{.*}}par.save = array<i64: 0>
// LOOKUP: math.sin {{.*}}par.save = array<i64: 0>
// SINE: par.rms_norm {{.*}}par.save = array<i64: 0, 1>
// SINE: par.einsum "se,fe->sf"{{.*}}par.save = array<i64: 0>
// SINE: math.sin %{{[^ ]*}} : tensor
// LESS: par.rms_norm {{.*}}par.recompute
// LESS: par.einsum "se,fe->sf"{{.*}}par.save = array<i64: 0>
// LEAST: par.rms_norm {{.*}}par.recompute
// LEAST: par.einsum "se,fe->sf"{{.*}}par.recompute
// CHECK: par.einsum "sf,ef->se"(%{{.*}}, %{{.*}}) :
// ALL: par.embedding {{.*}}par.save = array<i64: 0>
// LOOKUP: par.embedding {{.*}}par.recompute

par.variable @ids : tensor<64xi32> dims ["d0"] {role = #par.role<step>}
// PIPELINE-LABEL: func.func private @layer.backward(
// PIPELINE: par.rms_norm %
// PIPELINE-NOT: par.einsum "se,fe->sf"
// PIPELINE: return
par.variable @g0 : tensor<32xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @g1 : tensor<32xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @w0 : tensor<64x32xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @w1 : tensor<64x32xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @v0 : tensor<32x64xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
par.variable @v1 : tensor<32x64xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
par.variable @table : tensor<9x32xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<64x32xf32>, %g: tensor<32xf32>, %w: tensor<64x32xf32>, %v: tensor<32x64xf32>) -> tensor<64x32xf32> {
  %n, %r = par.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<64x32xf32>, tensor<32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>)
  %q = par.einsum "se,fe->sf"(%n, %w) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %t = math.sin %q : tensor<64x64xf32>
  %z = par.einsum "sf,ef->se"(%t, %v) : (tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<64x32xf32>
  %y = arith.addf %x, %z : tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}
func.func @forward(%ids: tensor<64xi32> {par.place = #par.place<variable @ids>}, %table: tensor<9x32xf32> {par.place = #par.place<variable @table>}, %g0: tensor<32xf32> {par.place = #par.place<variable @g0>},
    %w0: tensor<64x32xf32> {par.place = #par.place<variable @w0>}, %v0: tensor<32x64xf32> {par.place = #par.place<variable @v0>}, %g1: tensor<32xf32> {par.place = #par.place<variable @g1>},
    %w1: tensor<64x32xf32> {par.place = #par.place<variable @w1>}, %v1: tensor<32x64xf32> {par.place = #par.place<variable @v1>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<64xi32>, tensor<9x32xf32>) -> tensor<64x32xf32>
  %y = par.call @layer(%x, %g0, %w0, %v0) : (tensor<64x32xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x32xf32>
  %z = par.call @layer(%y, %g1, %w1, %v1) : (tensor<64x32xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x32xf32>
  %loss = par.reduce sum %z dims [0, 1] : tensor<64x32xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
