// RUN: par-opt %s -par-verify-partitioned -verify-diagnostics

par.mesh @mesh <["x"=2]>
// expected-error @below {{par-verify-partitioned: the function is not local; par-partition should have rewritten it}}
func.func @global(%v: tensor<4xf32>) -> tensor<4xf32> {
  return %v : tensor<4xf32>
}
