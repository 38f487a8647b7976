// Six experts over four of eight ranks, by hand: `ep` is a view, the name of the ranks that the dense layer numbers by a part of dp and by tp. Each sequence's
// rows go to the experts by their position. Plans/experts.test runs it.
module attributes {par.model = {model_type = "example", vocab = 9 : i64}, par.plan = #par.plan<zero = 0, mesh = ["dp" = 4, "tp" = 2]>} {
  par.mesh @mesh <["dp.0"=2, "dp.1"=2, "tp"=2], {ep = ["dp.1", "tp"]}>
  par.variable @table : tensor<9x4xf32> dims ["rows", "embed"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.7>}
  par.variable @up : tensor<10x4xf32> dims ["mlp", "embed"]
    {role = #par.role<parameter>, file = #par.file<"up">, init = #par.init<normal, 0.5>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
  par.variable @down : tensor<4x10xf32> dims ["embed", "mlp"]
    {role = #par.role<parameter>, file = #par.file<"down">, init = #par.init<normal, 0.5>, compute = #par.sharding<@mesh, [{}, {"tp"}]>}
  par.variable @in : tensor<6x5x4xf32> dims ["experts", "inner", "embed"]
    {role = #par.role<parameter>, file = #par.file<"in">, init = #par.init<normal, 0.5>, compute = #par.sharding<@mesh, [{"ep"}, {}, {}]>}
  par.variable @out : tensor<6x4x5xf32> dims ["experts", "embed", "inner"]
    {role = #par.role<parameter>, file = #par.file<"out">, init = #par.init<normal, 0.5>, compute = #par.sharding<@mesh, [{"ep"}, {}, {}]>}

  func.func private @dense(%x: tensor<8x12x4xf32>, %up: tensor<10x4xf32>, %down: tensor<4x10xf32>) -> tensor<8x12x4xf32> {
    %h = par.einsum "bse,me->bsm"(%x, %up) : (tensor<8x12x4xf32>, tensor<10x4xf32>) -> tensor<8x12x10xf32>
    %a = math.tanh %h : tensor<8x12x10xf32>
    %y = par.einsum "bsm,em->bse"(%a, %down) : (tensor<8x12x10xf32>, tensor<4x10xf32>) -> tensor<8x12x4xf32>
    %sum = arith.addf %x, %y : tensor<8x12x4xf32>
    return %sum : tensor<8x12x4xf32>
  }

  // Two rows of each sequence for every expert.
  func.func private @experts(%x: tensor<8x12x4xf32>, %in: tensor<6x5x4xf32>, %out: tensor<6x4x5xf32>) -> tensor<8x12x4xf32> {
    %rows = par.reshape %x : tensor<8x12x4xf32> -> tensor<8x6x2x4xf32>
    %own = par.constrain %rows <@mesh, [{"dp"}, {}, {}, {}]> : tensor<8x6x2x4xf32>
    %dispatched = par.constrain %own <@mesh, [{"dp.0"}, {"ep"}, {}, {}]> : tensor<8x6x2x4xf32>
    %h = par.einsum "bech,efh->becf"(%dispatched, %in) : (tensor<8x6x2x4xf32>, tensor<6x5x4xf32>) -> tensor<8x6x2x5xf32>
    %a = math.tanh %h : tensor<8x6x2x5xf32>
    %y = par.einsum "becf,ehf->bech"(%a, %out) : (tensor<8x6x2x5xf32>, tensor<6x4x5xf32>) -> tensor<8x6x2x4xf32>
    %there = par.constrain %y <@mesh, [{"dp.0"}, {"ep"}, {}, {}]> : tensor<8x6x2x4xf32>
    %combined = par.constrain %there <@mesh, [{"dp"}, {}, {}, {}]> : tensor<8x6x2x4xf32>
    %back = par.reshape %combined : tensor<8x6x2x4xf32> -> tensor<8x12x4xf32>
    %sum = arith.addf %x, %back : tensor<8x12x4xf32>
    return %sum : tensor<8x12x4xf32>
  }

  func.func @forward(%tokens: tensor<8x12xi32> {par.place = #par.place<input tokens>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                     %targets: tensor<8x12xi32> {par.place = #par.place<input targets>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                     %table: tensor<9x4xf32> {par.place = #par.place<variable @table>}, %up: tensor<10x4xf32> {par.place = #par.place<variable @up>},
                     %down: tensor<4x10xf32> {par.place = #par.place<variable @down>}, %in: tensor<6x5x4xf32> {par.place = #par.place<variable @in>},
                     %out: tensor<6x4x5xf32> {par.place = #par.place<variable @out>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %table : (tensor<8x12xi32>, tensor<9x4xf32>) -> tensor<8x12x4xf32>
    %y = par.call @dense(%x, %up, %down) : (tensor<8x12x4xf32>, tensor<10x4xf32>, tensor<4x10xf32>) -> tensor<8x12x4xf32>
    %z = par.call @experts(%y, %in, %out) : (tensor<8x12x4xf32>, tensor<6x5x4xf32>, tensor<6x4x5xf32>) -> tensor<8x12x4xf32>
    %logits = par.einsum "bse,ve->bsv"(%z, %table) : (tensor<8x12x4xf32>, tensor<9x4xf32>) -> tensor<8x12x9xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 9 : i64} : (tensor<8x12x9xf32>, tensor<8x12xi32>) -> (tensor<8x12xf32>, tensor<8x12xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<8x12xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
