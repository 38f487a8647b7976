// The rows of a variable, normalised whole.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2]>
par.variable @v : tensor<3x4xf32> dims ["d0", "d1"] {role = #par.role<parameter>, init = #par.init<ones>, compute = #par.sharding<@mesh, [{}, {"dp"}]>}
par.variable @w : tensor<4xf32> dims ["d0"] {role = #par.role<parameter>, init = #par.init<ones>, compute = #par.sharding<@mesh, [{"dp"}]>}
func.func @forward(%v: tensor<3x2xf32> {par.global_type = tensor<3x4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}, {"dp"}]>}, %w: tensor<2xf32> {par.global_type = tensor<4xf32>, par.place = #par.place<variable @w>, par.sharding = #par.sharding<@mesh, [{"dp"}]>}) -> (tensor<3x2xf32> {par.global_type = tensor<3x4xf32>, par.place = #par.place<variable @v>, par.sharding = #par.sharding<@mesh, [{}, {"dp"}]>}) attributes {par.local, par.phase = #par.phase<forward>} {
  %all = par.all_gather over ["dp"] dim 1 %v : (tensor<3x2xf32>) -> tensor<3x4xf32>
  %weights = par.all_gather over ["dp"] dim 0 %w : (tensor<2xf32>) -> tensor<4xf32>
  %y, %rstd = par.rms_norm %all, %weights {eps = 1.0e-5 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  %own = par.all_slice over ["dp"] dim 1 %y : tensor<3x4xf32> -> tensor<3x2xf32>
  return %own : tensor<3x2xf32>
}
}
