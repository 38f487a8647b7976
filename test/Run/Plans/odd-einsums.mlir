// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %run/Helpers/compare_graph.py %s %t dp=2,tp=2 tp=4 | FileCheck %s

// No transformer: einsums that are no matrix products, or none without moving dimensions first. Most sizes are odd, so that shards are padded.
// CHECK-COUNT-2: agrees
module attributes {par.model = {model_type = "example", vocab = 7 : i64}, par.plan = #par.plan<mesh = ["dp" = 2, "tp" = 2]>} {
  par.mesh @mesh <["dp"=2, "tp"=2]>
  par.variable @table : tensor<7x15xf32> dims ["rows", "width"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.7>}
  par.variable @gate : tensor<5x3xf32> dims ["x", "y"]
    {role = #par.role<parameter>, file = #par.file<"gate">, init = #par.init<normal, 0.7>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
  par.variable @mix : tensor<3x5x4x5xf32> dims ["y", "x", "z", "u"]
    {role = #par.role<parameter>, file = #par.file<"mix">, init = #par.init<normal, 0.4>, compute = #par.sharding<@mesh, [{}, {}, {}, {"tp"}]>}
  par.variable @column : tensor<4xf32> dims ["z"] {role = #par.role<parameter>, file = #par.file<"column">, init = #par.init<normal, 0.7>}
  par.variable @head : tensor<7x5x4xf32> dims ["rows", "u", "z"]
    {role = #par.role<parameter>, file = #par.file<"head">, init = #par.init<normal, 0.7>, compute = #par.sharding<@mesh, [{}, {"tp"}, {}]>}

  func.func @forward(%tokens: tensor<4x5xi32> {par.place = #par.place<input tokens>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>}, %targets: tensor<4x5xi32> {par.place = #par.place<input targets>},
                     %table: tensor<7x15xf32> {par.place = #par.place<variable @table>}, %gate: tensor<5x3xf32> {par.place = #par.place<variable @gate>}, %mix: tensor<3x5x4x5xf32> {par.place = #par.place<variable @mix>},
                     %column: tensor<4xf32> {par.place = #par.place<variable @column>}, %head: tensor<7x5x4xf32> {par.place = #par.place<variable @head>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %looked = par.embedding %tokens, %table : (tensor<4x5xi32>, tensor<7x15xf32>) -> tensor<4x5x15xf32>
    %x = par.reshape %looked : tensor<4x5x15xf32> -> tensor<4x5x5x3xf32>
    // A product without a sum, and one that turns everything around.
    %gated = par.einsum "bsxy,xy->bsxy"(%x, %gate) : (tensor<4x5x5x3xf32>, tensor<5x3xf32>) -> tensor<4x5x5x3xf32>
    %turned = par.einsum "bsxy->yxsb"(%gated) : (tensor<4x5x5x3xf32>) -> tensor<3x5x5x4xf32>
    // Two letters are summed, two come from either side, in an order of neither.
    %mixed = par.einsum "yxsb,yxzu->szbu"(%turned, %mix) : (tensor<3x5x5x4xf32>, tensor<3x5x4x5xf32>) -> tensor<5x4x4x5xf32>
    // A sum over letters of one operand alone, then an outer product with a vector, three operands at once.
    %energy = par.einsum "szbu,szbu->bs"(%mixed, %mixed) : (tensor<5x4x4x5xf32>, tensor<5x4x4x5xf32>) -> tensor<4x5xf32>
    %squashed = math.tanh %energy : tensor<4x5xf32>
    %outer = par.einsum "bs,z,szbu->bsuz"(%squashed, %column, %mixed) : (tensor<4x5xf32>, tensor<4xf32>, tensor<5x4x4x5xf32>) -> tensor<4x5x5x4xf32>
    %logits = par.einsum "bsuz,vuz->bsv"(%outer, %head) : (tensor<4x5x5x4xf32>, tensor<7x5x4xf32>) -> tensor<4x5x7xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 7 : i64} : (tensor<4x5x7xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
