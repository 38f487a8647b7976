// RUN: par-opt %s -par-propagate-shardings -par-differentiate-pipeline -par-propagate-shardings -par-insert-reshards -par-pad-for-sharding -par-partition="explain=1" -verify-diagnostics -o /dev/null

// Why each collective of a training step exists: the ops that sum, behind ops that pass partial sums on, and the annotations that split what they sum over.
module attributes {par.model = {vocab = 8 : i64}} {
par.mesh @mesh <["dp"=2, "tp"=2]>
par.variable @table : tensor<8x4xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{}, {}]>}
par.variable @up : tensor<6x4xf32> dims ["mlp", "embed"] {role = #par.role<parameter>, compute = #par.sharding<@mesh, [{"tp"}, {}]>}
par.variable @down : tensor<8x6xf32> dims ["vocab", "mlp"] {role = #par.role<parameter>}
// expected-remark @below {{all_reduce over dp, 96 bytes per rank: what @down.accumulator holds (einsum "bsv,bsm->vm") is a sum over dp <- annotation of input "targets"}}
// expected-remark @below {{all_reduce over dp, 48 bytes per rank: what @up.accumulator holds (einsum "bsm,bse->me") is a sum over dp <- annotation of input "targets"}}
// expected-remark @below {{all_reduce over dp, 128 bytes per rank: what @table.accumulator holds (embedding_backward) is a sum over dp <- annotation of input "tokens"}}
// expected-remark @below {{all_reduce over dp, 4 bytes per rank: what @loss holds (reduce) (added up by mulf) sums over dp <- annotation of input "tokens"}}
// expected-remark @below {{all_reduce over tp, 4 bytes per rank: einsum "ab,ab->" sums over tp <- annotation of @up}}
// expected-remark @below {{all_reduce over tp, 4 bytes per rank: einsum "ab,ab->" sums over tp <- annotation of @down}}
func.func @forward(%tokens: tensor<4x2xi32> {par.place = #par.place<input tokens>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                   %targets: tensor<4x2xi32> {par.place = #par.place<input targets>, par.sharding = #par.sharding<@mesh, [{"dp"}, {}]>},
                   %table: tensor<8x4xf32> {par.place = #par.place<variable @table>}, %up: tensor<6x4xf32> {par.place = #par.place<variable @up>}, %down: tensor<8x6xf32> {par.place = #par.place<variable @down>})
    -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {
  %x = par.embedding %tokens, %table : (tensor<4x2xi32>, tensor<8x4xf32>) -> tensor<4x2x4xf32>
  // expected-remark @below {{all_reduce over tp, 64 bytes per rank: einsum "bsm,me->bse" sums over tp <- annotation of @down}}
  %h = par.einsum "bse,me->bsm"(%x, %up) : (tensor<4x2x4xf32>, tensor<6x4xf32>) -> tensor<4x2x6xf32>
  %a = math.tanh %h : tensor<4x2x6xf32>
  // expected-remark @below {{all_reduce over tp, 128 bytes per rank: einsum "bsm,vm->bsv" sums over tp <- annotation of @up}}
  %logits = par.einsum "bsm,vm->bsv"(%a, %down) : (tensor<4x2x6xf32>, tensor<8x6xf32>) -> tensor<4x2x8xf32>
  %losses, %lse = par.cross_entropy %logits, %targets {classes = 8 : i64} : (tensor<4x2x8xf32>, tensor<4x2xi32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %loss = par.reduce sum %losses dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
