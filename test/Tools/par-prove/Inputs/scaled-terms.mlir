// Rows times a number that a step has for all of them, of which ranks have terms.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>, compute = #par.sharding<@mesh, [{"dp"}]>}
func.func @forward(%v: tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}, %s: tensor<f32> {par.global_type = tensor<f32>, par.place = #par.place<input loss_scale>, par.sharding = #par.sharding<@mesh, []>}) -> (tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) attributes {par.local, par.phase = #par.phase<forward>} {
  %i = par.axis_index "dp" : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %is_first = arith.cmpi eq, %i, %zero : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %term = arith.select %is_first, %s, %none : tensor<i1>, tensor<f32>
  %one = par.expand %term dims [0] : tensor<f32> -> tensor<1xf32>
  %c = par.all_gather over ["dp"] dim 0 %one : (tensor<1xf32>) -> tensor<2xf32>
  %p = arith.mulf %v, %c : tensor<2xf32>
  return %p : tensor<2xf32>
}
}
