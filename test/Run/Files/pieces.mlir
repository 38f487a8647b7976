// RUN: par-compile %s --mesh dp=2,tp=2 --zero 3 --to partition | FileCheck %s
// CHECK: par.variable @experts {{.*}}file = #par.file<"experts.{}.up", stack = 3, permutation = [0, 2, 1]>
// CHECK: par.variable @heads {{.*}}file = #par.file<[<"q", at = [0:4, :]>, <"k", permutation = [1, 0], at = [4:6, :]>]>
// CHECK: par.variable @scale.1 {{.*}}file = #par.file<"layers.scale", shape = [2, 8], slice = [1, :], offset = 1.000000e+00>

// Parameters whose places in files are no whole tensors (docs/IR.md, "Places in files"); pieces.test runs it. Its ops are of no known model: each
// parameter matters to the loss, and the sizes 3, 5 and 13 divide by no mesh.

module attributes {par.model = {model_type = "example", vocab = 13 : i64}} {
  // Plain, as many are.
  par.variable @table : tensor<13x8xf32> dims ["rows", "embed"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.5>}
  // A tensor per expert, transposed; tp splits every piece.
  par.variable @experts : tensor<3x16x8xf32> dims ["experts", "mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"experts.{}.up", stack = 3, permutation = [0, 2, 1]>, init = #par.init<normal, 0.5>}
  // The rows of two tensors; tp splits across the pieces.
  par.variable @heads : tensor<6x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<[<"q", at = [0:4, :]>, <"k", permutation = [1, 0], at = [4:6, :]>]>, init = #par.init<normal, 0.5>}
  // Every second column of a joint tensor each.
  par.variable @gate : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"gate_up", shape = [8, 32], permutation = [1, 0], view = [8, 16, 2], slice = [:, :, 0]>, init = #par.init<normal, 0.5>}
  par.variable @up : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"gate_up", shape = [8, 32], permutation = [1, 0], view = [8, 16, 2], slice = [:, :, 1]>, init = #par.init<normal, 0.5>}
  // A layer each of a stacked tensor, which holds them less one.
  par.variable @scale.0 : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>, file = #par.file<"layers.scale", shape = [2, 8], slice = [0, :], offset = 1.0>, init = #par.init<ones>}
  par.variable @scale.1 : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>, file = #par.file<"layers.scale", shape = [2, 8], slice = [1, :], offset = 1.0>, init = #par.init<ones>}
  // A tensor in several pieces of one variable: its layers' biases stand the other way round.
  par.variable @biases : tensor<2x5xf32> dims ["layers", "rows"] {role = #par.role<parameter>, file = #par.file<[<"biases", shape = [2, 5], slice = [1, :], at = [0, :]>, <"biases", shape = [2, 5], slice = [0, :], at = [1, :]>]>, init = #par.init<normal, 0.5>}

  func.func @forward(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                     %targets: tensor<4x5xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
                     %table: tensor<13x8xf32> {par.place = #par.place<variable @table>}, %experts: tensor<3x16x8xf32> {par.place = #par.place<variable @experts>},
                     %heads: tensor<6x8xf32> {par.place = #par.place<variable @heads>}, %gate: tensor<16x8xf32> {par.place = #par.place<variable @gate>},
                     %up: tensor<16x8xf32> {par.place = #par.place<variable @up>}, %scale0: tensor<8xf32> {par.place = #par.place<variable @scale.0>},
                     %scale1: tensor<8xf32> {par.place = #par.place<variable @scale.1>}, %biases: tensor<2x5xf32> {par.place = #par.place<variable @biases>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x0 = par.embedding %tokens, %table : (tensor<4x5xi32>, tensor<13x8xf32>) -> tensor<4x5x8xf32>
    %wide0 = par.expand %scale0 dims [0, 1] : tensor<8xf32> -> tensor<4x5x8xf32>
    %x1 = arith.mulf %x0, %wide0 : tensor<4x5x8xf32>
    // All experts see all tokens.
    %hidden = par.einsum "bse,xme->bsxm"(%x1, %experts) : (tensor<4x5x8xf32>, tensor<3x16x8xf32>) -> tensor<4x5x3x16xf32>
    %square = arith.mulf %hidden, %hidden : tensor<4x5x3x16xf32>
    %x2 = par.einsum "bsxm,xme->bse"(%square, %experts) : (tensor<4x5x3x16xf32>, tensor<3x16x8xf32>) -> tensor<4x5x8xf32>
    %half = arith.constant dense<0.01> : tensor<4x5x8xf32>
    %x3 = arith.mulf %x2, %half : tensor<4x5x8xf32>
    %g = par.einsum "bse,me->bsm"(%x3, %gate) : (tensor<4x5x8xf32>, tensor<16x8xf32>) -> tensor<4x5x16xf32>
    %u = par.einsum "bse,me->bsm"(%x1, %up) : (tensor<4x5x8xf32>, tensor<16x8xf32>) -> tensor<4x5x16xf32>
    %gu = arith.mulf %g, %u : tensor<4x5x16xf32>
    %x4 = par.einsum "bsm,me->bse"(%gu, %up) : (tensor<4x5x16xf32>, tensor<16x8xf32>) -> tensor<4x5x8xf32>
    %h = par.einsum "bse,he->bsh"(%x1, %heads) : (tensor<4x5x8xf32>, tensor<6x8xf32>) -> tensor<4x5x6xf32>
    %hh = arith.mulf %h, %h : tensor<4x5x6xf32>
    %x5 = par.einsum "bsh,he->bse"(%hh, %heads) : (tensor<4x5x6xf32>, tensor<6x8xf32>) -> tensor<4x5x8xf32>
    %x6 = arith.addf %x4, %x5 : tensor<4x5x8xf32>
    %wide1 = par.expand %scale1 dims [0, 1] : tensor<8xf32> -> tensor<4x5x8xf32>
    %x7 = arith.mulf %x6, %wide1 : tensor<4x5x8xf32>
    // The sum of both layers' squares.
    %b = par.einsum "lr,lr->r"(%biases, %biases) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<5xf32>
    %wide2 = par.expand %b dims [0, 2] : tensor<5xf32> -> tensor<4x5x8xf32>
    %x8 = arith.mulf %x7, %wide2 : tensor<4x5x8xf32>
    %logits = par.einsum "bse,ve->bsv"(%x8, %table) : (tensor<4x5x8xf32>, tensor<13x8xf32>) -> tensor<4x5x13xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 13 : i64} : (tensor<4x5x13xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
