// RUN: par-opt %s -par-select-residuals | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: par-opt %s -par-select-residuals=recompute=selective | FileCheck %s --check-prefixes=CHECK,SELECTIVE
// RUN: par-opt %s -par-select-residuals=recompute=full | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: par-opt %s -par-select-residuals=recompute=full -par-select-residuals | FileCheck %s --check-prefixes=CHECK,NONE --implicit-check-not=par.recompute
// RUN: not par-opt %s -par-select-residuals=recompute=some 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: par-opt %s -par-differentiate-pipeline='recompute=full split=true' -verify-roundtrip | FileCheck %s --check-prefix=SPLIT --implicit-check-not=par.recompute{{$}}

// UNKNOWN: error: par-select-residuals: recompute=some is unknown, expected none, selective, full or auto

// A norm, a product with a parameter, products of values alone with a softmax between them, another product with a parameter, and the residual sum.
// `none` runs nothing of it again; `selective` the norm and what stands between the products with parameters; `full` all but the last product,
// which no backward op reads. The input of the layer is kept by its caller in any case.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: tensor<2x4x3xf32> {par.save}
// NONE: par.rms_norm {{.*}}par.save = array<i64: 0, 1>
// SELECTIVE: par.rms_norm {{.*}}par.recompute}
// FULL: par.rms_norm {{.*}}par.recompute}
// NONE: par.einsum "bse,fe->bsf"{{.*}} {par.save = array<i64: 0>}
// SELECTIVE: par.einsum "bse,fe->bsf"{{.*}} {par.save = array<i64: 0>}
// FULL: par.einsum "bse,fe->bsf"{{.*}} {par.recompute}
// NONE: par.einsum "bsf,buf->bsu"(%{{.*}}, %{{.*}}) :
// SELECTIVE: par.einsum "bsf,buf->bsu"{{.*}} {par.recompute}
// FULL: par.einsum "bsf,buf->bsu"{{.*}} {par.recompute}
// NONE: par.softmax {{.*}} {par.save = array<i64: 0>}
// SELECTIVE: par.softmax {{.*}} {par.recompute}
// FULL: par.softmax {{.*}} {par.recompute}
// NONE: par.einsum "bsu,buf->bsf"{{.*}} {par.save = array<i64: 0>}
// SELECTIVE: par.einsum "bsu,buf->bsf"{{.*}} {par.recompute}
// FULL: par.einsum "bsu,buf->bsf"{{.*}} {par.recompute}
// CHECK: par.einsum "bsf,ef->bse"(%{{.*}}, %{{.*}}) :
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<2x4x3xf32>

// Behind the layer of the loss nothing is run again: its backward pass is next.
// CHECK-LABEL: func.func private @head(
// CHECK: par.rms_norm {{.*}}par.save = array<i64: 0, 1>
// CHECK-LABEL: func.func @forward(

// In two parts: the weight part runs nothing again that the input part has computed.
// SPLIT-LABEL: func.func private @layer.backward_input(
// SPLIT: par.softmax
// SPLIT-LABEL: func.func private @layer.backward_weight(
// SPLIT-NOT: par.softmax
// SPLIT-NOT: par.rms_norm
// SPLIT: return
par.variable @g : tensor<3xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @w : tensor<6x3xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @v : tensor<3x6xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
par.variable @table : tensor<9x3xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
func.func private @layer(%x: tensor<2x4x3xf32>, %g: tensor<3xf32>, %w: tensor<6x3xf32>, %v: tensor<3x6xf32>) -> tensor<2x4x3xf32> {
  %n, %r = par.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<2x4x3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<2x4xf32>)
  %q = par.einsum "bse,fe->bsf"(%n, %w) : (tensor<2x4x3xf32>, tensor<6x3xf32>) -> tensor<2x4x6xf32>
  %s = par.einsum "bsf,buf->bsu"(%q, %q) : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x4xf32>
  %p = par.softmax %s : tensor<2x4x4xf32>
  %o = par.einsum "bsu,buf->bsf"(%p, %q) : (tensor<2x4x4xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %z = par.einsum "bsf,ef->bse"(%o, %v) : (tensor<2x4x6xf32>, tensor<3x6xf32>) -> tensor<2x4x3xf32>
  %y = arith.addf %x, %z : tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}
func.func private @head(%x: tensor<2x4x3xf32>, %g: tensor<3xf32>) -> tensor<f32> {
  %n, %r = par.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<2x4x3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<2x4xf32>)
  %d = arith.mulf %n, %n : tensor<2x4x3xf32>
  %loss = par.reduce sum %d dims [0, 1, 2] : tensor<2x4x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @forward(%ids: tensor<2x4xi32> {par.place = #par.place<input tokens>}, %table: tensor<9x3xf32> {par.place = #par.place<variable @table>}, %g: tensor<3xf32> {par.place = #par.place<variable @g>},
    %w: tensor<6x3xf32> {par.place = #par.place<variable @w>}, %v: tensor<3x6xf32> {par.place = #par.place<variable @v>}) -> (tensor<f32> {par.place = #par.place<output loss>})
    attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %ids, %table : (tensor<2x4xi32>, tensor<9x3xf32>) -> tensor<2x4x3xf32>
  %y = par.call @layer(%x, %g, %w, %v) : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<6x3xf32>, tensor<3x6xf32>) -> tensor<2x4x3xf32>
  %loss = par.call @head(%y, %g) : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
