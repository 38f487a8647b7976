// RUN: par-opt %s -split-input-file -par-shard-tensor | FileCheck %s

// Column- and row-parallel by the same name; the row-parallel bias is replicated; the vocabulary is split.
// CHECK: par.mesh @mesh <["tp"=4]>
// CHECK: par.variable @up {{.*}}compute = #par.sharding<@mesh, [{"tp"}, {}]>
// CHECK: par.variable @down {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}]>
// CHECK: par.variable @down_bias {{.*}}compute = #par.sharding<@mesh, [{}]>
// CHECK: par.variable @wte {{.*}}compute = #par.sharding<@mesh, [{"tp"}, {}]>
// CHECK: par.variable @qkv {{.*}}compute = #par.sharding<@mesh, [{}, {"tp"}, {}, {}]>
par.mesh @mesh <["tp"=4]>
par.variable @up : tensor<256x64xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}
par.variable @down : tensor<64x256xf32> dims ["embed", "mlp"] {role = #par.role<parameter>}
par.variable @down_bias : tensor<64xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @wte : tensor<257x64xf32> dims ["vocab", "embed"] {role = #par.role<parameter>}
par.variable @qkv : tensor<3x5x16x64xf32> dims ["qkv", "heads", "head_dim", "embed"] {role = #par.role<parameter>}

// -----

// Two kv heads with groups of three over tp=4: tp is refined, so that no kv head is padded: 1 x 2 query heads per rank.
// CHECK: par.mesh @mesh <["dp"=2, "tp.kv"=2, "tp.group"=2]>
// CHECK: par.variable @q {{.*}}[{"tp.kv"}, {"tp.group"}, {}, {}]
// CHECK: par.variable @k {{.*}}[{"tp.kv"}, {}, {}]
// CHECK: par.variable @gate {{.*}}[{"tp.kv", "tp.group"}, {}]
par.mesh @mesh <["dp"=2, "tp"=4]>
par.variable @q : tensor<2x3x10x48xf32> dims ["kv_heads", "group", "head_dim", "embed"] {role = #par.role<parameter>}
par.variable @k : tensor<2x10x48xf32> dims ["kv_heads", "head_dim", "embed"] {role = #par.role<parameter>}
par.variable @gate : tensor<100x48xf32> dims ["mlp", "embed"] {role = #par.role<parameter>}

// -----

// With tp=3 the group of three is split and both kv heads are replicated: padding kv heads to three would idle a rank.
// CHECK: par.mesh @mesh <["tp"=3]>
// CHECK: par.variable @q {{.*}}[{}, {"tp"}, {}, {}]
// CHECK: par.variable @k {{.*}}[{}, {}, {}]
par.mesh @mesh <["tp"=3]>
par.variable @q : tensor<2x3x10x48xf32> dims ["kv_heads", "group", "head_dim", "embed"] {role = #par.role<parameter>}
par.variable @k : tensor<2x10x48xf32> dims ["kv_heads", "head_dim", "embed"] {role = #par.role<parameter>}
