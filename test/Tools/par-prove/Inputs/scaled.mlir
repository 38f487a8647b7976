// Rows times a number that a step has for all of them.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>, compute = #par.sharding<@mesh, [{"dp"}]>}
func.func @forward(%v: tensor<4xf32> {par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}, %s: tensor<f32> {par.place = #par.place<input loss_scale>, par.sharding = #par.sharding<@mesh, []>}) -> (tensor<4xf32> {par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) attributes {par.phase = #par.phase<forward>} {
  %c = par.expand %s dims [0] : tensor<f32> -> tensor<4xf32>
  %p = arith.mulf %v, %c : tensor<4xf32>
  return %p : tensor<4xf32>
}
}
