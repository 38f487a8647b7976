// RUN: par-opt %s --verify-roundtrip | FileCheck %s

// A whole tensor, transposed and reshaped.
// CHECK: @joined {{.*}}file = #par.file<"c_attn", shape = [8, 24], permutation = [3, 0, 1, 2]>
par.variable @joined : tensor<3x2x4x8xf32> dims ["qkv", "heads", "head_dim", "embed"]
  {role = #par.role<parameter>, file = #par.file<"c_attn", shape = [8, 24], permutation = [3, 0, 1, 2]>}
// A tensor per expert, whose sizes are those of one.
// CHECK: @experts {{.*}}file = #par.file<"experts.{}.w", stack = 3, permutation = [0, 2, 1]>
par.variable @experts : tensor<3x4x8xf32> dims ["experts", "mlp", "embed"]
  {role = #par.role<parameter>, file = #par.file<"experts.{}.w", permutation = [0, 2, 1], stack = 3>}
// Two tensors; one piece in brackets needs none.
// CHECK: @heads {{.*}}file = #par.file<[<"q", at = [0:4, :]>, <"k", permutation = [1, 0], at = [4:6, :]>]>
par.variable @heads : tensor<6x8xf32> dims ["heads", "embed"]
  {role = #par.role<parameter>, file = #par.file<[<"q", at = [0:4, :]>, <"k", at = [4:6, :], permutation = [1, 0]>]>}
// CHECK: @one {{.*}}file = #par.file<"one">
par.variable @one : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>, file = #par.file<[<"one">]>}
// Every second column; one element of a dimension is written as such.
// CHECK: @gate {{.*}}file = #par.file<"gate_up", shape = [8, 12], permutation = [1, 0], view = [8, 6, 2], slice = [:, :, 1]>
par.variable @gate : tensor<6x8xf32> dims ["mlp", "embed"]
  {role = #par.role<parameter>, file = #par.file<"gate_up", shape = [8, 12], permutation = [1, 0], view = [8, 6, 2], slice = [:, :, 1:2]>}
// An offset, of one piece and of several.
// CHECK: @norm {{.*}}file = #par.file<"norms", shape = [4, 8], slice = [2, :], offset = 1.000000e+00>
par.variable @norm : tensor<8xf32> dims ["embed"]
  {role = #par.role<parameter>, file = #par.file<"norms", shape = [4, 8], slice = [2, :], offset = 1.0>}
// CHECK: @norms {{.*}}file = #par.file<[<"a", at = [0, :]>, <"b", at = [1, :]>], offset = -5.000000e-01>
par.variable @norms : tensor<2x8xf32> dims ["layers", "embed"]
  {role = #par.role<parameter>, file = #par.file<[<"a", at = [0, :]>, <"b", at = [1, :]>], offset = -0.5>}
// CHECK: #par.file_piece<"a", at = [0, :]>
func.func private @piece() attributes {alone = #par.file_piece<"a", at = [0, :]>}
