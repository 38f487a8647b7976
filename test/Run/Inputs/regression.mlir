// A graph without tokens: a prediction for each row of a table, from numbers (f32 and bf16) and two ids (i32 and i64, whose rows are biases), fitted
// to y where `keep` says so. `scale` weighs a penalty and `shift` moves the numbers, both the same in every step. All seven are open inputs.
module attributes {par.model = {model_type = "example"}} {
  par.variable @up.0 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"0.up">, init = #par.init<normal, 0.5>}
  par.variable @down.0 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"0.down">, init = #par.init<normal, 0.5>}
  par.variable @up.1 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"1.up">, init = #par.init<normal, 0.5>}
  par.variable @down.1 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"1.down">, init = #par.init<normal, 0.5>}
  par.variable @up.2 : tensor<16x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, file = #par.file<"2.up">, init = #par.init<normal, 0.5>}
  par.variable @down.2 : tensor<8x16xf32> dims ["embed", "mlp"] {role = #par.role<parameter>, file = #par.file<"2.down">, init = #par.init<normal, 0.5>}
  par.variable @head : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>, file = #par.file<"head">, init = #par.init<normal, 0.5>}
  par.variable @groups : tensor<5xf32> dims ["groups"] {role = #par.role<parameter>, file = #par.file<"groups">, init = #par.init<normal, 0.5>}
  par.variable @items : tensor<7xf32> dims ["items"] {role = #par.role<parameter>, file = #par.file<"items">, init = #par.init<normal, 0.5>}

  func.func private @layer(%x: tensor<4x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>) -> tensor<4x8xf32> {
    %h = par.einsum "be,me->bm"(%x, %up) : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    %a = math.tanh %h : tensor<4x16xf32>
    %d = par.einsum "bm,em->be"(%a, %down) : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    %y = arith.addf %x, %d : tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }

  func.func @forward(%x: tensor<4x8xf32> {par.place = #par.place<input "x", micro_batch>, par.dims = ["batch", "embed"]},
                     %fine: tensor<4x8xbf16> {par.place = #par.place<input "fine", micro_batch>, par.dims = ["batch", "embed"]},
                     %y: tensor<4xf32> {par.place = #par.place<input "y", micro_batch>, par.dims = ["batch"]},
                     %group: tensor<4xi32> {par.place = #par.place<input "group", micro_batch>, par.dims = ["batch"]},
                     %item: tensor<4xi64> {par.place = #par.place<input "item", micro_batch>, par.dims = ["batch"]},
                     %keep: tensor<4xi1> {par.place = #par.place<input "keep", micro_batch>, par.dims = ["batch"]},
                     %scale: tensor<f32> {par.place = #par.place<input "scale", step>},
                     %shift: tensor<8xf32> {par.place = #par.place<input "shift", step>, par.dims = ["embed"]},
                     %up0: tensor<16x8xf32> {par.place = #par.place<variable @up.0>}, %down0: tensor<8x16xf32> {par.place = #par.place<variable @down.0>},
                     %up1: tensor<16x8xf32> {par.place = #par.place<variable @up.1>}, %down1: tensor<8x16xf32> {par.place = #par.place<variable @down.1>},
                     %up2: tensor<16x8xf32> {par.place = #par.place<variable @up.2>}, %down2: tensor<8x16xf32> {par.place = #par.place<variable @down.2>},
                     %head: tensor<8xf32> {par.place = #par.place<variable @head>}, %groups: tensor<5xf32> {par.place = #par.place<variable @groups>},
                     %items: tensor<7xf32> {par.place = #par.place<variable @items>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %wide = arith.extf %fine : tensor<4x8xbf16> to tensor<4x8xf32>
    %numbers = arith.addf %x, %wide : tensor<4x8xf32>
    %shifts = par.expand %shift dims [0] : tensor<8xf32> -> tensor<4x8xf32>
    %h = arith.addf %numbers, %shifts : tensor<4x8xf32>
    %h0 = par.call @layer(%h, %up0, %down0) : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    %h1 = par.call @layer(%h0, %up1, %down1) : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    %h2 = par.call @layer(%h1, %up2, %down2) : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    %linear = par.einsum "be,e->b"(%h2, %head) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
    %of_group = par.take_rows %group, %groups : (tensor<4xi32>, tensor<5xf32>) -> tensor<4xf32>
    %of_item = par.take_rows %item, %items : (tensor<4xi64>, tensor<7xf32>) -> tensor<4xf32>
    %grouped = arith.addf %linear, %of_group : tensor<4xf32>
    %prediction = arith.addf %grouped, %of_item : tensor<4xf32>
    %error = arith.subf %prediction, %y : tensor<4xf32>
    %square = arith.mulf %error, %error : tensor<4xf32>
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %kept = arith.select %keep, %square, %zero : tensor<4xi1>, tensor<4xf32>
    %fit = par.reduce sum %kept dims [0] : tensor<4xf32> -> tensor<f32>
    %size = arith.mulf %prediction, %prediction : tensor<4xf32>
    %sizes = par.reduce sum %size dims [0] : tensor<4xf32> -> tensor<f32>
    %penalty = arith.mulf %sizes, %scale : tensor<f32>
    %loss = arith.addf %fit, %penalty : tensor<f32>
    return %loss : tensor<f32>
  }
}
