// RUN: par-opt %s -par-set-mesh="mesh=tp=4,dp=2" | FileCheck %s
// RUN: not par-opt %s -par-set-mesh="mesh=xp=2" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not par-opt %s -par-set-mesh="mesh=tp=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not par-opt %s -par-set-mesh="mesh=tp=2,tp=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not par-opt %s -par-set-mesh="mesh=dp=4096,tp=8192" 2>&1 | FileCheck %s --check-prefix=MANY

// Axes are ordered outermost first whatever order the user named them in.
// CHECK: par.mesh @mesh <["dp"=2, "tp"=4]>
// UNKNOWN: error: mesh: unknown axis "xp", expected pp, dp, cp or tp
// SIZE: error: mesh: "tp=0" is not axis=size with a size of at least 1
// TWICE: error: mesh: axis "tp" is given twice
// MANY: error: mesh: more than 16777216 ranks
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
