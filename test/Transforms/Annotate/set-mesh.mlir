// RUN: par-opt %s -par-set-mesh="mesh=tp=4,dp=2" | FileCheck %s
// RUN: not par-opt %s -par-set-mesh="mesh=xp=2" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not par-opt %s -par-set-mesh="mesh=tp=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not par-opt %s -par-set-mesh="mesh=tp=2,tp=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not par-opt %s -par-set-mesh="mesh=dp=4096,tp=8192" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: par-opt %s -par-set-mesh="mesh=tp=2,dp_shard=4,dp_replicate=2" | FileCheck %s --check-prefix=PARTS
// RUN: par-opt %s -par-set-mesh="mesh=dp=8,dp_shard=4" | FileCheck %s --check-prefix=BESIDE
// RUN: not par-opt %s -par-set-mesh="mesh=dp=8,dp_shard=3" 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not par-opt %s -par-set-mesh="mesh=dp=8,dp_shard=4,dp_replicate=4" 2>&1 | FileCheck %s --check-prefix=PRODUCT

// Axes are ordered outermost first whatever order the user named them in.
// CHECK: par.mesh @mesh <["dp"=2, "tp"=4]>
// dp may be given as its parts, and beside one of them.
// PARTS: par.mesh @mesh <["dp_replicate"=2, "dp_shard"=4, "tp"=2]>
// BESIDE: par.mesh @mesh <["dp_replicate"=2, "dp_shard"=4]>
// UNEVEN: error: mesh: dp=8 is not dp_replicate x dp_shard for a part of 3; leave dp out or give their product
// PRODUCT: error: mesh: dp=8 is not dp_replicate x dp_shard = 16; leave dp out or give their product
// UNKNOWN: error: mesh: unknown axis "xp", expected pp, dp, dp_replicate, dp_shard, cp or tp
// SIZE: error: mesh: "tp=0" is not axis=size with a size of at least 1
// TWICE: error: mesh: axis "tp" is given twice
// MANY: error: mesh: more than 16777216 ranks
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
