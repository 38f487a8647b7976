// RUN: par-opt %s -par-hold-gathered -verify-diagnostics

// The names of what is added must be free.
par.mesh @mesh <["dp"=2]>
// expected-note @below {{the parameter that is gathered}}
par.variable @w : tensor<8xf32> dims ["a"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}]>, storage = #par.sharding<@mesh, [{"dp"}]>}
// expected-error @below {{@w.gathered is the name of what par-hold-gathered adds; rename this symbol}}
func.func private @w.gathered()
func.func @forward(%w: tensor<8xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
