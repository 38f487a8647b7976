// The last chunks have nothing but the loss, so logits are there before them.
module attributes {par.model = {model_type = "example", vocab = 7 : i64}} {
  par.variable @w : tensor<7x7xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w">, init = #par.init<normal, 0.7>}
  par.variable @u : tensor<7x7xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"u">, init = #par.init<normal, 0.7>}
  func.func @forward(%tokens: tensor<4x4xi32> {par.place = #par.place<input tokens>}, %targets: tensor<4x4xi32> {par.place = #par.place<input targets>}, %w: tensor<7x7xf32> {par.place = #par.place<variable @w>}, %u: tensor<7x7xf32> {par.place = #par.place<variable @u>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %w : (tensor<4x4xi32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    %y = math.tanh %x : tensor<4x4x7xf32>
    %logits = par.einsum "bsa,va->bsv"(%y, %u) : (tensor<4x4x7xf32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 7 : i64} : (tensor<4x4x7xf32>, tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
  func.func @logits(%tokens: tensor<4x4xi32> {par.place = #par.place<input tokens>}, %w: tensor<7x7xf32> {par.place = #par.place<variable @w>}, %u: tensor<7x7xf32> {par.place = #par.place<variable @u>})
      -> (tensor<4x4x7xf32> {par.place = #par.place<output logits>}) attributes {par.phase = #par.phase<logits, chunk = 0>} {
    %x = par.embedding %tokens, %w : (tensor<4x4xi32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    %y = math.tanh %x : tensor<4x4x7xf32>
    %logits = par.einsum "bsa,va->bsv"(%y, %u) : (tensor<4x4x7xf32>, tensor<7x7xf32>) -> tensor<4x4x7xf32>
    return %logits : tensor<4x4x7xf32>
  }
}
