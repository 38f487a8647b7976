// A value that ranks share becomes a term of a sum over them: one rank keeps it.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>}
par.variable @sum : tensor<4xf32> dims ["d0"] {role = #par.role<accumulator>, of = @v, compute = #par.sharding<@mesh, [{}], unreduced={"dp"}>, init = #par.init<zeros>}
func.func @forward(%v: tensor<4xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @sum>, par.sharding = #par.sharding<@mesh, [{}], unreduced={"dp"}>}) attributes {par.local, par.phase = #par.phase<forward>} {
  %p = arith.mulf %v, %v : tensor<4xf32>
  %i = par.axis_index "dp" : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %is_first = arith.cmpi eq, %i, %zero : tensor<i32>
  %all = par.expand %is_first dims [0] : tensor<i1> -> tensor<4xi1>
  %none = arith.constant dense<0.0> : tensor<4xf32>
  %k = arith.select %all, %p, %none : tensor<4xi1>, tensor<4xf32>
  return %k : tensor<4xf32>
}
}
