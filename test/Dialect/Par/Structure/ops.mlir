// RUN: par-opt %s --verify-roundtrip | FileCheck %s

// CHECK: par.mesh @mesh <["dp"=2, "tp"=4]>
par.mesh @mesh <["dp"=2, "tp"=4]>

// Everything a variable may say survives.
// CHECK: par.variable @w : tensor<3x2x4x8xf32> dims ["qkv", "heads", "head_dim", "embed"] {
// CHECK-SAME: compute = #par.sharding<@mesh, [{}, {"tp"}, {}, {}]>
// CHECK-SAME: file = #par.file<"h.0.attn.c_attn.weight", shape = [8, 24], permutation = [3, 0, 1, 2]>
// CHECK-SAME: init = #par.init<normal, 2.000000e-02>
// CHECK-SAME: role = #par.role<parameter>
// CHECK-SAME: storage = #par.sharding<@mesh, [{}, {"tp"}, {"dp"}, {}]>
par.variable @w : tensor<3x2x4x8xf32> dims ["qkv", "heads", "head_dim", "embed"]
  {role = #par.role<parameter>, init = #par.init<normal, 0.02>,
   file = #par.file<"h.0.attn.c_attn.weight", shape = [8, 24], permutation = [3, 0, 1, 2]>,
   compute = #par.sharding<@mesh, [{}, {"tp"}, {}, {}]>, storage = #par.sharding<@mesh, [{}, {"tp"}, {"dp"}, {}]>}
// CHECK: par.variable @w.accumulator
par.variable @w.accumulator : tensor<3x2x4x8xf32> dims ["qkv", "heads", "head_dim", "embed"]
  {role = #par.role<accumulator>, of = @w, space = #par.space<host>}
// CHECK: par.variable @w.gradient {{.*}}alias = @w.accumulator
par.variable @w.gradient : tensor<3x2x4x8xf32> dims ["qkv", "heads", "head_dim", "embed"]
  {role = #par.role<gradient>, of = @w, alias = @w.accumulator}
// CHECK: par.variable @embedding : {{.*}}init = #par.init<normal, 2.000000e-02, zero_row = 7>
par.variable @embedding : tensor<9x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 0.02, zero_row = 7>}
// A scalar belongs to nobody.
// CHECK: par.variable @loss : tensor<f32> dims []
par.variable @loss : tensor<f32> dims [] {role = #par.role<accumulator>, init = #par.init<zeros>}

func.func private @block(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: par.call @block(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %y = par.call @block(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
