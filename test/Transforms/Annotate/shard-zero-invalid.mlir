// RUN: par-opt %s -split-input-file -verify-diagnostics -par-shard-zero=stage=2
// RUN: not par-opt %s -par-shard-zero=stage=4 2>&1 | FileCheck %s
// CHECK: error: par-shard-zero: stage is 4, expected 0, 1, 2 or 3

par.mesh @mesh <["dp"=2]>
// expected-note @+1 {{the parameter}}
par.variable @w : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @+1 {{par-shard-zero: belongs to @w; the pass says how such state will lie and runs before par-differentiate}}
par.variable @w.m : tensor<64xf32> dims ["embed"] {role = #par.role<moment>, of = @w}
