// Four layers, each with a loss of its own beside what it computes: the square of the log of the sum of exponentials of a small projection, as
// routers of experts have it. It is a sum over the rows of the micro-batch, like the main loss. The model adds up those of its layers.
module attributes {par.model = {model_type = "example", vocab = 13 : i64}} {
  par.variable @table : tensor<13x8xf32> dims ["rows", "embed"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.5>}
  par.variable @up.0 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"0.up">, init = #par.init<normal, 0.5>}
  par.variable @down.0 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"0.down">, init = #par.init<normal, 0.5>}
  par.variable @router.0 : tensor<4x8xf32> dims ["experts", "embed"] {role = #par.role<parameter>, file = #par.file<"0.router">, init = #par.init<normal, 0.5>}
  par.variable @up.1 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"1.up">, init = #par.init<normal, 0.5>}
  par.variable @down.1 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"1.down">, init = #par.init<normal, 0.5>}
  par.variable @router.1 : tensor<4x8xf32> dims ["experts", "embed"] {role = #par.role<parameter>, file = #par.file<"1.router">, init = #par.init<normal, 0.5>}
  par.variable @up.2 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"2.up">, init = #par.init<normal, 0.5>}
  par.variable @down.2 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"2.down">, init = #par.init<normal, 0.5>}
  par.variable @router.2 : tensor<4x8xf32> dims ["experts", "embed"] {role = #par.role<parameter>, file = #par.file<"2.router">, init = #par.init<normal, 0.5>}
  par.variable @up.3 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"3.up">, init = #par.init<normal, 0.5>}
  par.variable @down.3 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"3.down">, init = #par.init<normal, 0.5>}
  par.variable @router.3 : tensor<4x8xf32> dims ["experts", "embed"] {role = #par.role<parameter>, file = #par.file<"3.router">, init = #par.init<normal, 0.5>}

  func.func private @layer(%x: tensor<4x5x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %router: tensor<4x8xf32>) -> (tensor<4x5x8xf32>, tensor<f32>) {
    %h = par.einsum "bse,me->bsm"(%x, %up) : (tensor<4x5x8xf32>, tensor<16x8xf32>) -> tensor<4x5x16xf32>
    %a = math.tanh %h : tensor<4x5x16xf32>
    %d = par.einsum "bsm,em->bse"(%a, %down) : (tensor<4x5x16xf32>, tensor<8x16xf32>) -> tensor<4x5x8xf32>
    %y = arith.addf %x, %d : tensor<4x5x8xf32>
    %scores = par.einsum "bse,ne->bsn"(%x, %router) : (tensor<4x5x8xf32>, tensor<4x8xf32>) -> tensor<4x5x4xf32>
    %e = math.exp %scores : tensor<4x5x4xf32>
    %z = par.reduce sum %e dims [2] : tensor<4x5x4xf32> -> tensor<4x5xf32>
    %log = math.log %z : tensor<4x5xf32>
    %square = arith.mulf %log, %log : tensor<4x5xf32>
    %aux = par.reduce sum %square dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %y, %aux : tensor<4x5x8xf32>, tensor<f32>
  }

  func.func @forward(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]},
                     %targets: tensor<4x5xi32> {par.place = #par.place<input targets>, par.dims = ["batch", "seq"]},
                     %table: tensor<13x8xf32> {par.place = #par.place<variable @table>},
                     %up0: tensor<16x8xf32> {par.place = #par.place<variable @up.0>}, %down0: tensor<8x16xf32> {par.place = #par.place<variable @down.0>},
                     %router0: tensor<4x8xf32> {par.place = #par.place<variable @router.0>},
                     %up1: tensor<16x8xf32> {par.place = #par.place<variable @up.1>}, %down1: tensor<8x16xf32> {par.place = #par.place<variable @down.1>},
                     %router1: tensor<4x8xf32> {par.place = #par.place<variable @router.1>},
                     %up2: tensor<16x8xf32> {par.place = #par.place<variable @up.2>}, %down2: tensor<8x16xf32> {par.place = #par.place<variable @down.2>},
                     %router2: tensor<4x8xf32> {par.place = #par.place<variable @router.2>},
                     %up3: tensor<16x8xf32> {par.place = #par.place<variable @up.3>}, %down3: tensor<8x16xf32> {par.place = #par.place<variable @down.3>},
                     %router3: tensor<4x8xf32> {par.place = #par.place<variable @router.3>})
      -> (tensor<f32> {par.place = #par.place<output loss>}, tensor<f32> {par.place = #par.place<output loss "balance", weight = 0.01>})
      attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %table : (tensor<4x5xi32>, tensor<13x8xf32>) -> tensor<4x5x8xf32>
    %y0, %a0 = par.call @layer(%x, %up0, %down0, %router0) : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<4x8xf32>) -> (tensor<4x5x8xf32>, tensor<f32>)
    %y1, %a1 = par.call @layer(%y0, %up1, %down1, %router1) : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<4x8xf32>) -> (tensor<4x5x8xf32>, tensor<f32>)
    %a01 = arith.addf %a0, %a1 : tensor<f32>
    %y2, %a2 = par.call @layer(%y1, %up2, %down2, %router2) : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<4x8xf32>) -> (tensor<4x5x8xf32>, tensor<f32>)
    %a012 = arith.addf %a01, %a2 : tensor<f32>
    %y3, %a3 = par.call @layer(%y2, %up3, %down3, %router3) : (tensor<4x5x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<4x8xf32>) -> (tensor<4x5x8xf32>, tensor<f32>)
    %balance = arith.addf %a012, %a3 : tensor<f32>
    %logits = par.einsum "bse,ve->bsv"(%y3, %table) : (tensor<4x5x8xf32>, tensor<13x8xf32>) -> tensor<4x5x13xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 13 : i64} : (tensor<4x5x13xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %loss, %balance : tensor<f32>, tensor<f32>
  }
}
