// RUN: par-opt %s -par-refine-mesh="over=dp,tp into=edp=2,ep=8" | FileCheck %s
// RUN: par-opt %s -par-refine-mesh="over=dp,tp into=edp=2,ep=8" -par-refine-mesh="over=tp into=tp.kv=2,tp.group=2" | FileCheck %s --check-prefix=AGAIN
// RUN: par-opt %s -par-refine-mesh="over=dp into=dp_replicate=2,dp_shard=2" | FileCheck %s --check-prefix=PARTS
// RUN: par-opt %s -par-refine-mesh="over=tp into=a=2,b=2" | FileCheck %s --check-prefix=OTHER
// RUN: par-opt %s -par-refine-mesh="over=dp,tp into=all=16,none=1" | FileCheck %s --check-prefix=WHOLE
// RUN: not par-opt %s -par-refine-mesh="over=pp,tp into=a=12" 2>&1 | FileCheck %s --check-prefix=APART
// RUN: not par-opt %s -par-refine-mesh="over=tp into=dp=4" 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not par-opt %s -par-refine-mesh="over=tp into=a=2,a=2" 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not par-opt %s -par-refine-mesh="over=tp into=a=8" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not par-opt %s -par-refine-mesh="over=pp,dp into=a=4,b=3" 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not par-opt %s -par-refine-mesh="over=tp into=a=x" 2>&1 | FileCheck %s --check-prefix=SIZE

// An axis is split where an axis of the other numbering begins within it. What is a whole axis still needs no view, and shardings have the parts.
// CHECK: par.mesh @mesh <["pp"=3, "dp.0"=2, "dp.1"=2, "tp"=4], {edp = ["dp.0"], ep = ["dp.1", "tp"]}>
// CHECK: compute = #par.sharding<@mesh, [{"tp"}, {"dp.0", "dp.1"}]>

// A view has the parts of an axis that is split later.
// AGAIN: par.mesh @mesh <["pp"=3, "dp.0"=2, "dp.1"=2, "tp.kv"=2, "tp.group"=2], {edp = ["dp.0"], ep = ["dp.1", "tp.kv", "tp.group"]}>
// AGAIN: compute = #par.sharding<@mesh, [{"tp.kv", "tp.group"}, {"dp.0", "dp.1"}]>

// Parts that the table of axes knows have their names, and the axis is a view of them without being listed.
// PARTS: par.mesh @mesh <["pp"=3, "dp_replicate"=2, "dp_shard"=2, "tp"=4]>
// PARTS: compute = #par.sharding<@mesh, [{"tp"}, {"dp_replicate", "dp_shard"}]>

// Other names are views, so that the parts keep the roles of their axis.
// OTHER: par.mesh @mesh <["pp"=3, "dp"=4, "tp.0"=2, "tp.1"=2], {a = ["tp.0"], b = ["tp.1"]}>

// WHOLE: par.mesh @mesh <["pp"=3, "dp"=4, "tp"=4], {all = ["dp", "tp"], none = []}>

// APART: error: par-refine-mesh: pp,tp are no axes of the mesh that are neighbours, in its order
// TAKEN: error: par-refine-mesh: "dp" is taken already; give another name
// SAME: error: par-refine-mesh: "a" is taken already; give another name
// RANKS: error: par-refine-mesh: tp=4 and a=8 have different numbers of ranks
// UNEVEN: error: par-refine-mesh: pp=3,dp=4 and a=4,b=3 have no common refinement
// SIZE: error: par-refine-mesh: "a=x" is not axis=size with a size of at least 1
par.mesh @mesh <["pp"=3, "dp"=4, "tp"=4]>
par.variable @w : tensor<16x16xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {"dp"}]>}
