// RUN: par-opt %s -par-differentiate-pipeline=evaluation=false | FileCheck %s
// RUN: par-opt %s -par-differentiate-pipeline="evaluation=false grad-type=bf16 moment-type=bf16" | FileCheck %s --check-prefix=NARROW
// RUN: par-opt %s -par-differentiate-pipeline="evaluation=false optimizer=sgd" | FileCheck %s --check-prefix=SGD
// RUN: not par-opt %s -par-differentiate-pipeline="grad-type=f16" 2>&1 | FileCheck %s --check-prefix=GRAD
// RUN: not par-opt %s -par-differentiate-pipeline="moment-type=f64" 2>&1 | FileCheck %s --check-prefix=MOMENT

// GRAD: error: par-differentiate: grad-type=f16 is unknown, expected f32 or bf16
// MOMENT: error: par-build-optimizer: moment-type=f64 is unknown, expected f32 or bf16

// A narrow parameter has a master that begins as it does; state is f32 unless told otherwise.
// CHECK-DAG: par.variable @w.accumulator : tensor<3x2xf32>
// CHECK-DAG: par.variable @w.master : tensor<3x2xf32> {{.*}}init = #par.init<normal, 2.000000e-02>, of = @w, role = #par.role<master>
// CHECK-DAG: par.variable @w.gradient : tensor<3x2xf32> {{.*}}alias = @w.accumulator
// CHECK-DAG: par.variable @w.m : tensor<3x2xf32>
// CHECK-DAG: par.variable @w.v : tensor<3x2xf32>
// NARROW-DAG: par.variable @w.accumulator : tensor<3x2xbf16>
// NARROW-DAG: par.variable @w.master : tensor<3x2xf32>
// NARROW-DAG: par.variable @w.gradient : tensor<3x2xbf16>
// NARROW-DAG: par.variable @w.m : tensor<3x2xbf16>
// NARROW-DAG: par.variable @w.v : tensor<3x2xbf16>
// SGD-DAG: par.variable @w.master : tensor<3x2xf32>

// The gradient is summed up in f32 and not rounded before it is added; a bf16 accumulator is rounded once, at the end.
// CHECK-LABEL: func.func private @layer.backward
// CHECK: par.reduce {{ *}}sum %{{.*}} dims [0] : tensor<4x3xbf16> -> tensor<3xf32>
// CHECK-NOT: arith.truncf
// CHECK: par.einsum {{.*}} : (tensor<4x3xbf16>, tensor<4x2xbf16>) -> tensor<3x2xf32>
// CHECK-NOT: arith.truncf
// CHECK: return
// NARROW-LABEL: func.func private @layer.backward
// NARROW: %[[OLD:.*]] = arith.extf %{{.*}} : tensor<3x2xbf16> to tensor<3x2xf32>
// NARROW: %[[KEPT:.*]] = arith.mulf %{{.*}}, %[[OLD]]
// NARROW: %[[SUM:.*]] = arith.addf %[[KEPT]]
// NARROW: arith.truncf %[[SUM]] : tensor<3x2xf32> to tensor<3x2xbf16>

// CHECK-LABEL: func.func @norm
// CHECK: par.einsum "ab,ab->"(%{{.*}}) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<f32>
// NARROW-LABEL: func.func @norm
// NARROW: par.einsum "ab,ab->"(%{{.*}}) : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<f32>

// The update reads and writes masters; parameters are only written.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %arg0: tensor<3x2xf32> {par.place = #par.place<variable @w.master>}
// CHECK-SAME: -> (tensor<3x2xf32> {par.place = #par.place<variable @w.master>}
// CHECK-SAME: tensor<3x2xbf16> {par.place = #par.place<variable @w>}
// CHECK-LABEL: func.func private @layer.update
// CHECK: par.adamw {{.*}} -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xbf16>)
// NARROW-LABEL: func.func private @layer.update
// NARROW: par.adamw {{.*}} -> (tensor<3x2xf32>, tensor<3x2xbf16>, tensor<3x2xbf16>, tensor<3x2xbf16>)
// SGD-LABEL: func.func private @layer.update
// SGD: par.sgd {{.*}} -> (tensor<3x2xf32>, tensor<3x2xbf16>)
par.variable @w : tensor<3x2xbf16> dims ["mlp", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 2.0e-02>}
par.variable @b : tensor<3xbf16> dims ["mlp"] {role = #par.role<parameter>}

func.func private @layer(%x: tensor<4x2xbf16>, %w: tensor<3x2xbf16>, %b: tensor<3xbf16>) -> tensor<4x3xbf16> {
  %p = par.einsum "be,me->bm"(%x, %w) : (tensor<4x2xbf16>, tensor<3x2xbf16>) -> tensor<4x3xbf16>
  %e = par.expand %b dims [0] : tensor<3xbf16> -> tensor<4x3xbf16>
  %y = arith.addf %p, %e : tensor<4x3xbf16>
  return %y : tensor<4x3xbf16>
}

func.func @forward(%tokens: tensor<4x2xi32> {par.place = #par.place<input tokens>}, %w: tensor<3x2xbf16> {par.place = #par.place<variable @w>}, %b: tensor<3xbf16> {par.place = #par.place<variable @b>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = arith.sitofp %tokens : tensor<4x2xi32> to tensor<4x2xbf16>
  %y = par.call @layer(%x, %w, %b) : (tensor<4x2xbf16>, tensor<3x2xbf16>, tensor<3xbf16>) -> tensor<4x3xbf16>
  %loss = par.reduce sum %y dims [0, 1] : tensor<4x3xbf16> -> tensor<f32>
  return %loss : tensor<f32>
}
