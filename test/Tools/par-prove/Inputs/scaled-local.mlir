// Rows times a number that a step has for all of them, on ranks.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>, compute = #par.sharding<@mesh, [{"dp"}]>}
func.func @forward(%v: tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}, %s: tensor<f32> {par.global_type = tensor<f32>, par.place = #par.place<input loss_scale>, par.sharding = #par.sharding<@mesh, []>}) -> (tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) attributes {par.local, par.phase = #par.phase<forward>} {
  %c = par.expand %s dims [0] : tensor<f32> -> tensor<2xf32>
  %p = arith.mulf %v, %c : tensor<2xf32>
  return %p : tensor<2xf32>
}
}
