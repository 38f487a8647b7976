// A value that ranks share becomes a term of a sum over them.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @sum : tensor<4xf32> dims ["d0"] {role = #par.role<accumulator>, of = @v, compute = #par.sharding<@mesh, [{}], unreduced={"dp"}>, init = #par.init<zeros>}
func.func @forward(%v: tensor<4xf32> {par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {par.place = #par.place<variable @sum>, par.sharding = #par.sharding<@mesh, [{}], unreduced={"dp"}>}) attributes {par.phase = #par.phase<forward>} {
  %p = arith.mulf %v, %v : tensor<4xf32>
  return %p : tensor<4xf32>
}
}
