// RUN: par-opt %s -split-input-file -par-shard-zero=stage=3 | FileCheck %s
// RUN: par-opt %s -split-input-file -par-shard-zero=stage=2 | FileCheck %s --check-prefix=TWO
// RUN: par-opt %s -split-input-file -par-shard-zero=stage=1 | FileCheck %s --check-prefix=ONE
// RUN: par-opt %s -split-input-file -par-shard-zero=stage=0 | FileCheck %s --check-prefix=NONE --implicit-check-not=storage

// Minor to tp where the shard after tp divides (64 by 4); else the first dimension that does; else the least padding in a dimension that tp
// does not split (6 of 8, not 5 of 8). Stage 2 adds accumulators, stage 3 parameters.
// CHECK: par.variable @up {{.*}}par.state_storage = {accumulator = #par.sharding<@mesh, [{"tp", "dp"}, {}]>, gradient = #par.sharding<@mesh, [{"tp", "dp"}, {}]>, master = #par.sharding<@mesh, [{"tp", "dp"}, {}]>, moment = #par.sharding<@mesh, [{"tp", "dp"}, {}]>}, {{.*}}storage = #par.sharding<@mesh, [{"tp", "dp"}, {}]>
// CHECK: par.variable @second {{.*}}storage = #par.sharding<@mesh, [{"tp"}, {"dp"}]>
// CHECK: par.variable @padded {{.*}}storage = #par.sharding<@mesh, [{"tp"}, {}, {"dp"}]>
// CHECK: par.variable @norm {{.*}}storage = #par.sharding<@mesh, [{"dp"}]>
// CHECK: par.variable @scalar : tensor<f32> dims [] {role = #par.role<parameter>}
// TWO: par.variable @up {{.*}}par.state_storage = {accumulator = {{.*}}, gradient = {{.*}}, master = {{.*}}, moment = {{.*}}}, role = #par.role<parameter>}
// ONE: par.variable @up {{.*}}par.state_storage = {gradient = {{.*}}, master = {{.*}}, moment = {{.*}}}, role = #par.role<parameter>}
// NONE: par.variable @up
par.mesh @mesh <["dp"=4, "tp"=2]>
par.variable @up : tensor<128x64xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @second : tensor<6x8xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @padded : tensor<14x5x6xf32> dims ["heads", "a", "b"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}, {}]>}
par.variable @norm : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @scalar : tensor<f32> dims [] {role = #par.role<parameter>}

// -----

// Hybrid: state is split over dp_shard, equal in all dp_replicate groups; cp joins.
// CHECK: par.variable @w {{.*}}storage = #par.sharding<@mesh, [{"dp_shard", "cp"}]>
par.mesh @mesh <["dp_replicate"=2, "dp_shard"=2, "cp"=2]>
par.variable @w : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>}

// -----

// Nothing to split over; split over all of it already.
// CHECK: par.variable @w : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>}
par.mesh @mesh <["dp"=1, "tp"=2]>
par.variable @w : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>}

// -----

// CHECK: par.variable @w : tensor<64xf32> dims ["embed"] {compute = #par.sharding<@mesh, [{"dp"}]>, role = #par.role<parameter>}
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"dp"}]>}

// -----

// Experts over a part of dp and tp: ZeRO has the rest of dp for them, and all of it for others.
// CHECK: par.variable @experts {{.*}}storage = #par.sharding<@mesh, [{"dp.1", "tp", "dp.0"}, {}]>
// CHECK: par.variable @dense {{.*}}storage = #par.sharding<@mesh, [{"tp", "dp.0", "dp.1"}, {}]>
par.mesh @mesh <["dp.0"=2, "dp.1"=2, "tp"=2], {ep = ["dp.1", "tp"]}>
par.variable @experts : tensor<8x4xf32> dims ["experts", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"ep"}, {}]>}
par.variable @dense : tensor<8x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
