// One square weight is table, layer and head: with cuts behind each use, three stages read it.
module attributes {par.model = {model_type = "example", vocab = 7 : i64}} {
  par.variable @w : tensor<7x7xf32> dims ["a", "b"]
    {role = #par.role<parameter>, file = #par.file<"w">, init = #par.init<normal, 0.7>}
  func.func @forward(%tokens: tensor<4x4xi32> {par.place = #par.place<input tokens>},
                     %targets: tensor<4x4xi32> {par.place = #par.place<input targets>}, %w: tensor<7x7xf32> {par.place = #par.place<variable @w>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %w : (tensor<4x4xi32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    %y = par.einsum "bsa,ac->bsc"(%x, %w) : (tensor<4x4x7xf32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    %t = math.tanh %y : tensor<4x4x7xf32>
    %logits = par.einsum "bsa,va->bsv"(%t, %w) : (tensor<4x4x7xf32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 7 : i64} : (tensor<4x4x7xf32>, tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
