// Every rank has the numbers of the first rows.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2, "tp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>, compute = #par.sharding<@mesh, [{"dp"}]>}
par.variable @sum : tensor<4xf32> dims ["d0"] {role = #par.role<accumulator>, of = @v, compute = #par.sharding<@mesh, [{"dp"}]>, init = #par.init<zeros>}
func.func @forward(%v: tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) -> (tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @sum>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) attributes {par.local, par.phase = #par.phase<forward>} {
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %own = par.slice %table from [0] : tensor<4xf32> -> tensor<2xf32>
  %p = arith.mulf %v, %own : tensor<2xf32>
  return %p : tensor<2xf32>
}
}
