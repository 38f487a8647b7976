// A table, two layers and a loss: units 0 embedding, 1 and 2 einsum and tanh, 3 and 4 einsum and tanh, 5 head, 6 cross_entropy, 7 sum.
module attributes {par.model = {model_type = "example", vocab = 5 : i64}} {
  par.variable @table : tensor<5x3xf32> dims ["v", "a"] {role = #par.role<parameter>, file = #par.file<"table">, init = #par.init<normal, 0.5>}
  par.variable @first : tensor<3x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"first">, init = #par.init<normal, 0.5>}
  par.variable @second : tensor<3x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"second">, init = #par.init<normal, 0.5>}
  par.variable @head : tensor<5x3xf32> dims ["v", "a"] {role = #par.role<parameter>, file = #par.file<"head">, init = #par.init<normal, 0.5>}
  func.func @forward(%tokens: tensor<1x2xi32> {par.place = #par.place<input tokens>}, %targets: tensor<1x2xi32> {par.place = #par.place<input targets>},
                     %table: tensor<5x3xf32> {par.place = #par.place<variable @table>}, %first: tensor<3x3xf32> {par.place = #par.place<variable @first>},
                     %second: tensor<3x3xf32> {par.place = #par.place<variable @second>}, %head: tensor<5x3xf32> {par.place = #par.place<variable @head>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = par.embedding %tokens, %table : (tensor<1x2xi32>, tensor<5x3xf32>) -> tensor<1x2x3xf32>
    %y = par.einsum "bsa,ac->bsc"(%x, %first) : (tensor<1x2x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3xf32>
    %t = math.tanh %y : tensor<1x2x3xf32>
    %z = par.einsum "bsa,ac->bsc"(%t, %second) : (tensor<1x2x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3xf32>
    %u = math.tanh %z : tensor<1x2x3xf32>
    %logits = par.einsum "bsa,va->bsv"(%u, %head) : (tensor<1x2x3xf32>, tensor<5x3xf32>) -> tensor<1x2x5xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {classes = 5 : i64} : (tensor<1x2x5xf32>, tensor<1x2xi32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
    %loss = par.reduce sum %losses dims [0, 1] : tensor<1x2xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
