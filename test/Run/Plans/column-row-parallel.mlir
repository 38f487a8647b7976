// RUN: par-compile %s --mesh dp=2,tp=2 --to partition | FileCheck %s

// Two linear layers with a GeLU between them, as Megatron-LM splits them over tp, written by hand: ColumnParallelLinear, whose output features are
// split, then RowParallelLinear, whose input features are. Nothing here says how. The name "mlp" of the dimension between the two is what
// par-shard-tensor splits; that one all-reduce forwards and one backwards follow from it is what propagation and partitioning find out.
// column-row-parallel.test runs it.

module attributes {par.model = {model_type = "example", vocab = 13 : i64}} {
  // State: dimensions have names, initial values are drawn by file name, biases included, so that none is zero.
  par.variable @table : tensor<13x8xf32> dims ["rows", "embed"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.5>}
  par.variable @up : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"up.weight">, init = #par.init<normal, 0.5>}
  par.variable @up.bias : tensor<16xf32> dims ["mlp"] {role = #par.role<parameter>, file = #par.file<"up.bias">, init = #par.init<normal, 0.5>}
  par.variable @down : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"down.weight">, init = #par.init<normal, 0.5>}
  par.variable @down.bias : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>, file = #par.file<"down.bias">, init = #par.init<normal, 0.5>}

  // Forward, on a rank's half of the batch and of the features: the sum over tp is the second product's, and the row bias is added after it, once.
  // CHECK-LABEL: func.func private @pair.forward(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x5x8xf32>
  // CHECK-NOT: par.all_reduce
  // CHECK: par.einsum "bse,me->bsm"(%[[X]], %{{.*}}) {{.*}}: (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
  // CHECK-NOT: par.all_reduce
  // CHECK: %[[PART:.*]] = par.einsum "bsm,em->bse"({{.*}}) {{.*}}: (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = par.all_reduce sum over ["tp"] %[[PART]]
  // CHECK: %[[BIAS:.*]] = par.expand %{{.*}} dims [0, 1] : tensor<8xf32> -> tensor<2x5x8xf32>
  // CHECK-NEXT: arith.addf %[[SUM]], %[[BIAS]]
  // CHECK-NOT: par.all_reduce
  // CHECK: return

  // Backward: the mirror image. Every tp rank has its part of the weights' and of the column bias' gradients and all of the row bias' (a sum over
  // batch and sequence of a cotangent that is equal on all of them); only the cotangent of x is a sum over tp, made where the layer is called.
  // CHECK-LABEL: func.func private @pair.backward(
  // CHECK-NOT: par.all_reduce
  // CHECK: return
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: par.all_reduce
  // CHECK: par.call @pair.forward
  // CHECK-NOT: par.all_reduce
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: par.all_reduce
  // CHECK: %[[D:.*]]:{{[0-9]+}} = par.call @pair.backward
  // CHECK-NEXT: par.all_reduce sum over ["tp"] %[[D]]#0
  // CHECK-SAME: (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  // CHECK-NOT: par.all_reduce
  // Evaluation is the forward pass again; only its loss is summed over dp.
  // CHECK-LABEL: func.func @eval(
  // CHECK-COUNT-1: par.all_reduce sum over ["dp"]
  // CHECK-NOT: par.all_reduce
  // Gradients are summed over dp, once per step: in one bucket.
  // CHECK-LABEL: func.func @reduce(
  // CHECK-COUNT-1: par.all_reduce sum over ["dp"]
  // CHECK-NOT: par.all_reduce
  // CHECK-LABEL: func.func @norm(
  func.func private @pair(%x: tensor<4x5x8xf32>, %up: tensor<16x8xf32>, %up_bias: tensor<16xf32>, %down: tensor<8x16xf32>, %down_bias: tensor<8xf32>) -> tensor<4x5x8xf32> {
    // h = x · upᵀ + up_bias
    %product = par.einsum "bse,me->bsm"(%x, %up) : (tensor<4x5x8xf32>, tensor<16x8xf32>) -> tensor<4x5x16xf32>
    %rows = par.expand %up_bias dims [0, 1] : tensor<16xf32> -> tensor<4x5x16xf32>
    %h = arith.addf %product, %rows : tensor<4x5x16xf32>
    // GeLU: a = h / 2 · (1 + erf(h / √2))
    %root = arith.constant dense<0.707106769> : tensor<4x5x16xf32>
    %one = arith.constant dense<1.0> : tensor<4x5x16xf32>
    %half = arith.constant dense<0.5> : tensor<4x5x16xf32>
    %scaled = arith.mulf %h, %root : tensor<4x5x16xf32>
    %erf = math.erf %scaled : tensor<4x5x16xf32>
    %gate = arith.addf %erf, %one : tensor<4x5x16xf32>
    %halves = arith.mulf %h, %half : tensor<4x5x16xf32>
    %a = arith.mulf %halves, %gate : tensor<4x5x16xf32>
    // y = a · downᵀ + down_bias
    %sum = par.einsum "bsm,em->bse"(%a, %down) : (tensor<4x5x16xf32>, tensor<8x16xf32>) -> tensor<4x5x8xf32>
    %columns = par.expand %down_bias dims [0, 1] : tensor<8xf32> -> tensor<4x5x8xf32>
    %y = arith.addf %sum, %columns : tensor<4x5x8xf32>
    return %y : tensor<4x5x8xf32>
  }

  // The runtime feeds tokens and targets and takes the sum of the losses (docs/IR.md). The table of 13 rows is whole on every rank.
  func.func @forward(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                     %targets: tensor<4x5xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
                     %table: tensor<13x8xf32> {par.place = #par.place<variable @table>}, %up: tensor<16x8xf32> {par.place = #par.place<variable @up>}, %up_bias: tensor<16xf32> {par.place = #par.place<variable @up.bias>},
                     %down: tensor<8x16xf32> {par.place = #par.place<variable @down>}, %down_bias: tensor<8xf32> {par.place = #par.place<variable @down.bias>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %table : (tensor<4x5xi32>, tensor<13x8xf32>) -> tensor<4x5x8xf32>
    %y = par.call @pair(%x, %up, %up_bias, %down, %down_bias)
        : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<4x5x8xf32>
    %logits = par.einsum "bse,ve->bsv"(%y, %table) : (tensor<4x5x8xf32>, tensor<13x8xf32>) -> tensor<4x5x13xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 13 : i64} : (tensor<4x5x13xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
