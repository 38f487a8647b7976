// No language model: numbers that the runtime reads as tokens are features, the loss is a sum of squares per row, and nothing looks anything up. So no vocabulary is
// said.
module {
  par.variable @w : tensor<8x6xf32> dims ["mlp", "features"] {role = #par.role<parameter>, file = #par.file<"w">, init = #par.init<normal, 0.5>}
  func.func @forward(%tokens: tensor<4x6xi32> {par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]}, %w: tensor<8x6xf32> {par.place = #par.place<variable @w>})
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
    %x = arith.sitofp %tokens : tensor<4x6xi32> to tensor<4x6xf32>
    %y = par.einsum "bs,ms->bm"(%x, %w) : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>
    %square = arith.mulf %y, %y : tensor<4x8xf32>
    %loss = par.reduce sum %square dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
