// RUN: par-opt %s -split-input-file -par-verify-partitioned -verify-diagnostics

// What a chunk hands to the next one has one type and one sharding at both ends. Nothing is said.
par.mesh @mesh <["x"=2]>
func.func @forward_0(%v: tensor<4xf32> {par.place = #par.place<residual 0>, par.sharding = #par.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {par.place = #par.place<boundary 0>, par.sharding = #par.sharding<@mesh, [{"x"}]>})
    attributes {par.local, par.phase = #par.phase<forward, chunk = 0>} {
  return %v : tensor<4xf32>
}
func.func @forward_1(%v: tensor<4xf32> {par.place = #par.place<boundary 0>, par.sharding = #par.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {par.place = #par.place<residual 0>, par.sharding = #par.sharding<@mesh, [{"x"}]>})
    attributes {par.local, par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return %v : tensor<4xf32>
}

// -----

// Equal local types in different shardings: other elements on each rank.
par.mesh @mesh <["x"=2, "y"=2]>
// expected-note @+1 {{the function that makes it}}
func.func @forward_0(%v: tensor<4xf32> {par.place = #par.place<residual 0>, par.sharding = #par.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {par.place = #par.place<boundary 0>, par.sharding = #par.sharding<@mesh, [{"x"}]>})
    attributes {par.local, par.phase = #par.phase<forward, chunk = 0>} {
  return %v : tensor<4xf32>
}
// expected-error @+1 {{par-verify-partitioned: argument 0 of @forward_1 is 'tensor<4xf32>' #par.sharding<@mesh, [{"y"}]>, but result 0 of @forward_0, which it is, is 'tensor<4xf32>' #par.sharding<@mesh, [{"x"}]>; par-insert-reshards gives both one sharding}}
func.func @forward_1(%v: tensor<4xf32> {par.place = #par.place<boundary 0>, par.sharding = #par.sharding<@mesh, [{"y"}]>})
    -> (tensor<4xf32> {par.place = #par.place<residual 0>, par.sharding = #par.sharding<@mesh, [{"y"}]>})
    attributes {par.local, par.phase = #par.phase<forward, chunk = 1, stage = 1>} {
  return %v : tensor<4xf32>
}
