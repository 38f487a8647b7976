// Tokens beside inputs of the graph's own: a weight for each token's loss, and positions, whose rows of a table are added to the embedding.
module attributes {par.model = {model_type = "example", vocab = 13 : i64}} {
  par.variable @table : tensor<13x8xf32> dims ["rows", "embed"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.5>}
  par.variable @places : tensor<5x8xf32> dims ["places", "embed"] {role = #par.role<parameter>, file = #par.file<"places">, init = #par.init<normal, 0.5>}
  par.variable @up : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"up.weight">, init = #par.init<normal, 0.5>}
  par.variable @down : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"down.weight">, init = #par.init<normal, 0.5>}

  func.func private @embed(%tokens: tensor<4x5xi32>, %positions: tensor<4x5xi32>, %table: tensor<13x8xf32>, %places: tensor<5x8xf32>) -> tensor<4x5x8xf32> {
    %t = par.embedding %tokens, %table : (tensor<4x5xi32>, tensor<13x8xf32>) -> tensor<4x5x8xf32>
    %p = par.take_rows %positions, %places : (tensor<4x5xi32>, tensor<5x8xf32>) -> tensor<4x5x8xf32>
    %x = arith.addf %t, %p : tensor<4x5x8xf32>
    return %x : tensor<4x5x8xf32>
  }

  func.func private @layer(%x: tensor<4x5x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>) -> tensor<4x5x8xf32> {
    %h = par.einsum "bse,me->bsm"(%x, %up) : (tensor<4x5x8xf32>, tensor<16x8xf32>) -> tensor<4x5x16xf32>
    %a = math.tanh %h : tensor<4x5x16xf32>
    %d = par.einsum "bsm,em->bse"(%a, %down) : (tensor<4x5x16xf32>, tensor<8x16xf32>) -> tensor<4x5x8xf32>
    %y = arith.addf %x, %d : tensor<4x5x8xf32>
    return %y : tensor<4x5x8xf32>
  }

  func.func @forward(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                     %targets: tensor<4x5xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
                     %weights: tensor<4x5xf32> {par.place = #par.place<input "weights", micro_batch>, par.dims = ["batch", "seq"]},
                     %positions: tensor<4x5xi32> {par.place = #par.place<input "positions", micro_batch>, par.dims = ["batch", "seq"]},
                     %table: tensor<13x8xf32> {par.place = #par.place<variable @table>}, %places: tensor<5x8xf32> {par.place = #par.place<variable @places>},
                     %up: tensor<16x8xf32> {par.place = #par.place<variable @up>}, %down: tensor<8x16xf32> {par.place = #par.place<variable @down>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.call @embed(%tokens, %positions, %table, %places) : (tensor<4x5xi32>, tensor<4x5xi32>, tensor<13x8xf32>, tensor<5x8xf32>) -> tensor<4x5x8xf32>
    %y = par.call @layer(%x, %up, %down) : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<4x5x8xf32>
    %logits = par.einsum "bse,ve->bsv"(%y, %table) : (tensor<4x5x8xf32>, tensor<13x8xf32>) -> tensor<4x5x13xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 13 : i64} : (tensor<4x5x13xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %weighted = arith.mulf %losses, %weights : tensor<4x5xf32>
    %loss = par.reduce sum %weighted dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }

  func.func @logits(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                    %positions: tensor<4x5xi32> {par.place = #par.place<input "positions", micro_batch>, par.dims = ["batch", "seq"]},
                    %table: tensor<13x8xf32> {par.place = #par.place<variable @table>}, %places: tensor<5x8xf32> {par.place = #par.place<variable @places>},
                    %up: tensor<16x8xf32> {par.place = #par.place<variable @up>}, %down: tensor<8x16xf32> {par.place = #par.place<variable @down>})
      -> (tensor<4x5x13xf32> {par.place = #par.place<output logits>}) attributes {par.phase = #par.phase<logits, chunk = 0>} {
    %x = par.call @embed(%tokens, %positions, %table, %places) : (tensor<4x5xi32>, tensor<4x5xi32>, tensor<13x8xf32>, tensor<5x8xf32>) -> tensor<4x5x8xf32>
    %y = par.call @layer(%x, %up, %down) : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<4x5x8xf32>
    %logits = par.einsum "bse,ve->bsv"(%y, %table) : (tensor<4x5x8xf32>, tensor<13x8xf32>) -> tensor<4x5x13xf32>
    return %logits : tensor<4x5x13xf32>
  }
}
