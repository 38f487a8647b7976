// RUN: par-opt %s -split-input-file -par-set-target=target=cuda -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding | FileCheck %s
// RUN: par-opt %s -split-input-file -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding | FileCheck %s --check-prefix=CPU

// Rows of logits on a GPU are a multiple of 64 elements on every rank: 1029 over two ranks are 576 each, of the variable, its gradient and what one function hands to another. Nothing is masked: no column of padding is ever seen.
par.mesh @mesh <["tp"=2]>
par.variable @v : tensor<1029x8xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @m : tensor<1029x8xf32> dims ["vocab", "embed"] {role = #par.role<moment>, of = @v}
par.variable @d : tensor<1029x8xf32> dims ["vocab", "embed"] {role = #par.role<accumulator>, of = @v}
// CHECK-LABEL: func.func @forward_0
// CHECK-SAME: tensor<1152x8xf32> {par.global_type = tensor<1029x8xf32>
// CHECK-SAME: -> (tensor<4xf32> {{.*}}, tensor<4x1152xf32> {par.global_type = tensor<4x1029xf32>
// CHECK: par.einsum {{.*}} -> tensor<4x1152xf32>
// CHECK: par.cross_entropy {{.*}} {classes = 1029
// CHECK-LABEL: func.func @backward_0
// CHECK-NOT: arith.select
// CHECK: par.cross_entropy_backward {{.*}} {classes = 1029 {{.*}} -> tensor<4x1152xf32>
// CHECK: par.embedding_backward {{.*}} -> tensor<1152x8xf32>
// CHECK-NOT: arith.select
// CHECK: return
// On a CPU what the shards divide is enough.
// CPU-LABEL: func.func @forward_0
// CPU-SAME: tensor<1030x8xf32> {par.global_type = tensor<1029x8xf32>
// CPU: par.einsum {{.*}} -> tensor<4x1030xf32>
func.func @forward_0(%w: tensor<1029x8xf32> {par.place = #par.place<variable @v>}, %x: tensor<4x8xf32> {par.place = #par.place<boundary 0>}, %t: tensor<4xi32>)
    -> (tensor<4xf32> {par.place = #par.place<residual 1>}, tensor<4x1029xf32> {par.place = #par.place<residual 0>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %l = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<1029x8xf32>) -> tensor<4x1029xf32>
  %loss, %lse = par.cross_entropy %l, %t {classes = 1029} : (tensor<4x1029xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %lse, %l : tensor<4xf32>, tensor<4x1029xf32>
}
func.func @backward_0(%l: tensor<4x1029xf32> {par.place = #par.place<residual 0>}, %lse: tensor<4xf32> {par.place = #par.place<residual 1>}, %x: tensor<4x8xf32> {par.place = #par.place<boundary 0>}, %t: tensor<4xi32>, %dloss: tensor<4xf32>, %dx: tensor<4x8xf32>)
    -> (tensor<1029x8xf32> {par.place = #par.place<variable @d>}) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %dl = par.cross_entropy_backward %dloss, %l, %t, %lse {classes = 1029} : (tensor<4xf32>, tensor<4x1029xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4x1029xf32>
  %dw = par.einsum "bn,bk->nk"(%dl, %x) : (tensor<4x1029xf32>, tensor<4x8xf32>) -> tensor<1029x8xf32>
  %de = par.embedding_backward %t, %dx : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<1029x8xf32>
  %sum = arith.addf %dw, %de : tensor<1029x8xf32>
  return %sum : tensor<1029x8xf32>
}

// What belongs to a parameter is as long, and so is what is handed over to a function that multiplies no matrix.
// CHECK-LABEL: func.func @update
// CHECK: arith.mulf {{.*}} : tensor<1152x8xf32>
func.func @update(%m: tensor<1029x8xf32> {par.place = #par.place<variable @m>}) -> (tensor<1029x8xf32> {par.place = #par.place<variable @m>}) attributes {par.phase = #par.phase<update, chunk = 0>} {
  %s = arith.mulf %m, %m : tensor<1029x8xf32>
  return %s : tensor<1029x8xf32>
}
// CHECK-LABEL: func.func @backward_weight_0
// CHECK: arith.mulf {{.*}} : tensor<4x1152xf32>
func.func @backward_weight_0(%l: tensor<4x1029xf32> {par.place = #par.place<residual 0>}) -> tensor<4x1029xf32> attributes {par.phase = #par.phase<backward_weight, chunk = 0>} {
  %s = arith.mulf %l, %l : tensor<4x1029xf32>
  return %s : tensor<4x1029xf32>
}

// -----

// As they are: rows that would have to be masked (their sum is taken, and exp makes ones of zeros), those of which an op needs all (a norm of its columns), those that would become longer by more than an eighth, and those that the runtime fills.
par.mesh @mesh <["tp"=1]>
// CHECK-LABEL: func.func @masked
// CHECK-NOT: 1024
// CHECK: return
func.func @masked(%x: tensor<4x8xf32>, %w: tensor<1001x8xf32>) -> tensor<4xf32> {
  %l = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<1001x8xf32>) -> tensor<4x1001xf32>
  %e = math.exp %l : tensor<4x1001xf32>
  %s = par.reduce sum %e dims [1] : tensor<4x1001xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}
// CHECK-LABEL: func.func @whole
// CHECK-NOT: 1024
// CHECK: return
func.func @whole(%x: tensor<4x8xf32>, %w: tensor<1001x8xf32>) -> tensor<4x1001xf32> {
  %l = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<1001x8xf32>) -> tensor<4x1001xf32>
  %s = par.softmax %l : tensor<4x1001xf32>
  return %s : tensor<4x1001xf32>
}
// CHECK-LABEL: func.func @short
// CHECK-SAME: tensor<257x8xf32>
// CHECK: par.einsum {{.*}} -> tensor<4x257xf32>
func.func @short(%x: tensor<4x8xf32>, %w: tensor<257x8xf32>) -> tensor<4x257xf32> {
  %l = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<257x8xf32>) -> tensor<4x257xf32>
  return %l : tensor<4x257xf32>
}
// Of 1001 one row is longer where nothing speaks against it, in a function that is called as well.
// CHECK-LABEL: func.func @caller
// CHECK: call @callee({{.*}}) {{.*}} : (tensor<4x8xf32>, tensor<1024x8xf32>) -> tensor<4x1024xf32>
func.func @caller(%x: tensor<4x8xf32>, %w: tensor<1001x8xf32>) -> tensor<4x1001xf32> {
  %l = par.call @callee(%x, %w) : (tensor<4x8xf32>, tensor<1001x8xf32>) -> tensor<4x1001xf32>
  return %l : tensor<4x1001xf32>
}
func.func private @callee(%x: tensor<4x8xf32>, %w: tensor<1001x8xf32>) -> tensor<4x1001xf32> {
  %l = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<1001x8xf32>) -> tensor<4x1001xf32>
  return %l : tensor<4x1001xf32>
}

// -----

// What a function hands over is known to have zeros for padding, so its rows are longer although the other one adds them up; of exponentials, which would have to be masked, they are as they are.
par.mesh @mesh <["tp"=1]>
par.variable @w : tensor<1001x8xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
par.variable @v : tensor<1003x8xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
// CHECK-LABEL: func.func @forward_0
// CHECK: par.einsum {{.*}} -> tensor<4x1024xf32>
// CHECK: par.einsum {{.*}} -> tensor<4x1003xf32>
func.func @forward_0(%x: tensor<4x8xf32> {par.place = #par.place<boundary 0>}, %w: tensor<1001x8xf32> {par.place = #par.place<variable @w>}, %v: tensor<1003x8xf32> {par.place = #par.place<variable @v>})
    -> (tensor<4x1001xf32> {par.place = #par.place<residual 0>}, tensor<4x1003xf32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %h = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<1001x8xf32>) -> tensor<4x1001xf32>
  %l = par.einsum "bk,nk->bn"(%x, %v) : (tensor<4x8xf32>, tensor<1003x8xf32>) -> tensor<4x1003xf32>
  %e = math.exp %l : tensor<4x1003xf32>
  return %h, %e : tensor<4x1001xf32>, tensor<4x1003xf32>
}
// CHECK-LABEL: func.func @backward_0
// CHECK-NOT: arith.select
// CHECK: par.reduce sum {{.*}} : tensor<4x1024xf32>
// CHECK: par.reduce sum {{.*}} : tensor<4x1003xf32>
func.func @backward_0(%h: tensor<4x1001xf32> {par.place = #par.place<residual 0>}, %e: tensor<4x1003xf32> {par.place = #par.place<residual 1>})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %s = par.reduce sum %h dims [1] : tensor<4x1001xf32> -> tensor<4xf32>
  %t = par.reduce sum %e dims [1] : tensor<4x1003xf32> -> tensor<4xf32>
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

// Ids that nobody has checked may name rows of padding: what is added there is masked, and no row more than the shards need.
par.mesh @mesh <["tp"=2]>
par.variable @v : tensor<1029x8xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @d : tensor<1029x8xf32> dims ["vocab", "embed"] {role = #par.role<accumulator>, of = @v}
// CHECK-LABEL: func.func @unchecked
// CHECK: par.add_rows {{.*}} -> tensor<1030x8xf32>
// CHECK: arith.select {{.*}} : tensor<1030x8xi1>, tensor<1030x8xf32>
func.func @unchecked(%w: tensor<1029x8xf32> {par.place = #par.place<variable @v>}, %x: tensor<4x8xf32>, %t: tensor<4xi32>)
    -> (tensor<4x1029xf32>, tensor<1029x8xf32> {par.place = #par.place<variable @d>}) attributes {par.phase = #par.phase<backward, chunk = 0>} {
  %l = par.einsum "bk,nk->bn"(%x, %w) : (tensor<4x8xf32>, tensor<1029x8xf32>) -> tensor<4x1029xf32>
  %e = par.add_rows %t, %x : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<1029x8xf32>
  return %l, %e : tensor<4x1029xf32>, tensor<1029x8xf32>
}
