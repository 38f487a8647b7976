// A layer that calls itself.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @sum : tensor<4xf32> dims ["d0"] {role = #par.role<accumulator>, of = @v, compute = #par.sharding<@mesh, [{}]>, init = #par.init<zeros>}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = par.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @forward(%v: tensor<4xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @sum>, par.sharding = #par.sharding<@mesh, [{}]>}) attributes {par.local, par.phase = #par.phase<forward>} {
  %y = par.call @f(%v) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
}
