// RUN: par-opt %s --par-overlap-collectives -split-input-file | FileCheck %s
// RUN: par-opt %s --par-overlap-collectives=prefetch-limit=0 -split-input-file | FileCheck %s --check-prefix=NONE
// RUN: par-opt %s --par-overlap-collectives=prefetch-limit=1000000 -split-input-file | FileCheck %s --check-prefix=ALL

// (W1·W0 + W2·W0)·x with weights that are stored in parts: W0 is gathered once, and each next gather begins before what is computed from the one before.
// NONE-LABEL: func.func @two_weights
// NONE-NOT: par.started
// ALL-LABEL: func.func @two_weights
// ALL-COUNT-3: par.all_gather
// ALL: par.einsum
par.mesh @mesh <["dp"=2]>
// CHECK-LABEL: func.func @two_weights
// CHECK-SAME: %[[W0:.*]]: tensor<4x8xf32>, %[[W1:.*]]: tensor<4x8xf32>, %[[W2:.*]]: tensor<4x8xf32>, %[[X:.*]]: tensor<8x2xf32>
func.func @two_weights(%w0: tensor<4x8xf32>, %w1: tensor<4x8xf32>, %w2: tensor<4x8xf32>, %x: tensor<8x2xf32>) -> tensor<8x2xf32> attributes {par.local} {
  // CHECK: %[[G0:.*]] = par.all_gather over ["dp"] dim 0 %[[W0]]
  // CHECK: %[[G1:.*]] = par.all_gather over ["dp"] dim 0 %[[W1]]
  // CHECK: %[[P2:.*]] = par.all_gather over ["dp"] dim 0 %[[W2]] {par.started}
  // CHECK: %[[A:.*]] = par.einsum "ij,jk->ik"(%[[G1]], %[[G0]])
  // CHECK: %[[G2:.*]] = par.wait %[[P2]]
  // CHECK: %[[B:.*]] = par.einsum "ij,jk->ik"(%[[G2]], %[[G0]])
  // CHECK-NOT: par.all_gather
  // CHECK: arith.addf %[[A]], %[[B]]
  %0 = par.all_gather over ["dp"] dim 0 %w0 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = par.all_gather over ["dp"] dim 0 %w1 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = par.einsum "ij,jk->ik"(%1, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = par.all_gather over ["dp"] dim 0 %w2 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = par.einsum "ij,jk->ik"(%3, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = arith.addf %2, %4 : tensor<8x8xf32>
  %6 = par.einsum "ij,jk->ik"(%5, %x) : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %6 : tensor<8x2xf32>
}

// -----

// The limit, by default the largest gather, is what is gathered ahead: one layer's weight, however many follow.
// NONE-LABEL: func.func @three_layers
// ALL-LABEL: func.func @three_layers
// ALL-COUNT-4: par.all_gather
// ALL: par.einsum
par.mesh @mesh <["dp"=2]>
// CHECK-LABEL: func.func @three_layers
// CHECK: %[[G0:.*]] = par.all_gather over ["dp"] dim 0 %arg1 :
// CHECK-NEXT: %[[P1:.*]] = par.all_gather over ["dp"] dim 0 %arg2 {par.started}
// CHECK-NEXT: %[[Y0:.*]] = par.einsum "ij,jk->ik"(%[[G0]], %arg0)
// CHECK-NEXT: %[[P2:.*]] = par.all_gather over ["dp"] dim 0 %arg3 {par.started}
// CHECK-NEXT: %[[G1:.*]] = par.wait %[[P1]]
// CHECK-NEXT: %[[Y1:.*]] = par.einsum "ij,jk->ik"(%[[G1]], %[[Y0]])
// CHECK-NEXT: %[[P3:.*]] = par.all_gather over ["dp"] dim 0 %arg4 {par.started}
// CHECK-NEXT: %[[G2:.*]] = par.wait %[[P2]]
// CHECK-NEXT: par.einsum "ij,jk->ik"(%[[G2]], %[[Y1]])
func.func @three_layers(%x: tensor<8x2xf32>, %w0: tensor<4x8xf32>, %w1: tensor<4x8xf32>, %w2: tensor<4x8xf32>, %w3: tensor<4x8xf32>) -> tensor<8x2xf32> attributes {par.local} {
  %0 = par.all_gather over ["dp"] dim 0 %w0 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = par.einsum "ij,jk->ik"(%0, %x) : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %2 = par.all_gather over ["dp"] dim 0 %w1 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = par.einsum "ij,jk->ik"(%2, %1) : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %4 = par.all_gather over ["dp"] dim 0 %w2 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %5 = par.einsum "ij,jk->ik"(%4, %3) : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %6 = par.all_gather over ["dp"] dim 0 %w3 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %7 = par.einsum "ij,jk->ik"(%6, %5) : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %7 : tensor<8x2xf32>
}

// -----

// Copies on the way to a gather are made when it begins, those of its result when it is used.
// NONE-LABEL: func.func private @layer
par.mesh @mesh <["dp"=2]>
func.func private @layer(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x8xf32> attributes {par.local} {
  %0 = par.einsum "bi,io->bo"(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
// CHECK-LABEL: func.func @transposed
// CHECK: par.transpose %arg1
// CHECK: par.all_gather
// CHECK-NEXT: par.transpose %arg2
// CHECK-NEXT: %[[P:.*]] = par.all_gather {{.*}} {par.started}
// CHECK-NEXT: par.transpose
// CHECK-NEXT: par.call @layer
// CHECK-NEXT: %[[G:.*]] = par.wait %[[P]]
// CHECK-NEXT: %[[T:.*]] = par.transpose %[[G]]
// CHECK-NEXT: par.call @layer({{.*}}, %[[T]])
func.func @transposed(%x: tensor<2x8xf32>, %w0: tensor<8x4xf32>, %w1: tensor<8x4xf32>) -> tensor<2x8xf32> attributes {par.local} {
  %0 = par.transpose %w0 [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %1 = par.all_gather over ["dp"] dim 0 %0 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = par.transpose %1 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %3 = par.call @layer(%x, %2) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %4 = par.transpose %w1 [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %5 = par.all_gather over ["dp"] dim 0 %4 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %6 = par.transpose %5 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %7 = par.call @layer(%3, %6) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %7 : tensor<2x8xf32>
}

// -----

// Sums in memory of their own are reduced, in their buckets, as soon as all of a bucket exist and waited for before the function returns.
par.mesh @mesh <["dp"=2]>
func.func private @backward(%dy: tensor<8xf32>, %acc: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32> {par.place = #par.place<alias 1>}) attributes {par.local} {
  %0 = arith.addf %dy, %acc : tensor<8xf32>
  return %dy, %0 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @accumulated
// CHECK: %[[L0:.*]]:2 = par.call @backward
// CHECK-NEXT: %[[L1:.*]]:2 = par.call @backward
// CHECK-NEXT: %[[P:.*]]:2 = par.all_reduce sum over ["dp"] %[[L0]]#1, %[[L1]]#1 {par.started}
// CHECK-NEXT: par.call @backward
// CHECK-NEXT: %[[Q:.*]] = par.all_reduce
// CHECK-NEXT: %[[R:.*]]:2 = par.wait %[[P]]#0, %[[P]]#1
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[Q]]
func.func @accumulated(%dy: tensor<8xf32>, %a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {par.local} {
  %0:2 = par.call @backward(%dy, %a0) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = par.call @backward(%0#0, %a1) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %2:2 = par.call @backward(%1#0, %a2) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3:2 = par.all_reduce sum over ["dp"] %0#1, %1#1 : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %4 = par.all_reduce sum over ["dp"] %2#1 : (tensor<8xf32>) -> tensor<8xf32>
  return %3#0, %3#1, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What nobody uses stays valid: it goes when kernels are formed.
par.mesh @mesh <["dp"=2]>
// CHECK-LABEL: func.func @unused
// CHECK-COUNT-2: par.all_gather
// CHECK: par.all_reduce
// CHECK: return
func.func @unused(%x: tensor<8x8xf32>, %w: tensor<4x8xf32>) -> tensor<8x8xf32> attributes {par.local} {
  %0 = par.all_gather over ["dp"] dim 0 %w : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = par.einsum "ij,jk->ik"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = par.all_reduce sum over ["dp"] %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = math.tanh %2 : tensor<8x8xf32>
  %4 = par.all_gather over ["dp"] dim 0 %1 : (tensor<8x8xf32>) -> tensor<16x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// Hybrid sharding: what is reduce-scattered is added up, and reduced over the replicas, while the layers before it are
// computed. None of it is kept for the end.
par.mesh @mesh <["dp_replicate"=2, "dp_shard"=2]>
// CHECK-LABEL: func.func @hybrid
// CHECK: %[[G0:.*]] = par.einsum
// CHECK: %[[S0:.*]] = par.reduce_scatter over ["dp_shard"] dim 0 %[[G0]] {par.started}
// CHECK: %[[G1:.*]] = par.einsum
// CHECK: %[[D0:.*]] = par.wait %[[S0]]
// CHECK: %[[A0:.*]] = arith.addf %[[D0]]
// CHECK: par.reduce_scatter over ["dp_shard"] dim 0 %[[G1]] {par.started}
// CHECK: par.all_reduce sum over ["dp_replicate"] %[[A0]] {par.started}
// CHECK: par.einsum
// CHECK: return
func.func @hybrid(%x: tensor<8x8xf32>, %a0: tensor<4x8xf32>, %a1: tensor<4x8xf32>, %a2: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) attributes {par.local} {
  %g0 = par.einsum "ij,jk->ik"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s0 = par.reduce_scatter over ["dp_shard"] dim 0 %g0 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %b0 = arith.addf %s0, %a0 : tensor<4x8xf32>
  %g1 = par.einsum "ij,jk->ik"(%x, %g0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s1 = par.reduce_scatter over ["dp_shard"] dim 0 %g1 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %b1 = arith.addf %s1, %a1 : tensor<4x8xf32>
  %g2 = par.einsum "ij,jk->ik"(%x, %g1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s2 = par.reduce_scatter over ["dp_shard"] dim 0 %g2 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %b2 = arith.addf %s2, %a2 : tensor<4x8xf32>
  %r0 = par.all_reduce sum over ["dp_replicate"] %b0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r1 = par.all_reduce sum over ["dp_replicate"] %b1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r2 = par.all_reduce sum over ["dp_replicate"] %b2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r0, %r1, %r2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A layer's gradients are kept while the layer before it is computed, no longer: the sum of one is made when the next one is there. They queue
// behind the gather for that layer, which somebody waits for sooner. The limit is what a layer gathers or its reductions keep: 384 bytes.
par.mesh @mesh <["dp"=2]>
// CHECK-LABEL: func.func @gathered_and_reduced
// CHECK: par.all_gather over ["dp"] dim 0 %arg1 :
// CHECK: par.all_gather over ["dp"] dim 0 %arg2 {par.started}
// CHECK: %[[G0:.*]] = par.einsum
// CHECK-NEXT: par.all_gather over ["dp"] dim 0 %arg3 {par.started}
// CHECK-NEXT: %[[S0:.*]] = par.reduce_scatter over ["dp"] dim 0 %[[G0]] {par.started}
// CHECK-NEXT: par.wait
// CHECK-NEXT: %[[G1:.*]] = par.einsum
// CHECK-NEXT: par.wait %[[S0]]
// CHECK-NEXT: arith.addf
// CHECK-NEXT: par.reduce_scatter over ["dp"] dim 0 %[[G1]] {par.started}
// CHECK-NEXT: par.wait
// CHECK-NEXT: par.einsum
func.func @gathered_and_reduced(%x: tensor<8x8xf32>, %w0: tensor<4x8xf32>, %w1: tensor<4x8xf32>, %w2: tensor<4x8xf32>, %a0: tensor<4x8xf32>, %a1: tensor<4x8xf32>, %a2: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) attributes {par.local} {
  %0 = par.all_gather over ["dp"] dim 0 %w0 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %g0 = par.einsum "ij,jk->ik"(%x, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s0 = par.reduce_scatter over ["dp"] dim 0 %g0 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %b0 = arith.addf %s0, %a0 : tensor<4x8xf32>
  %1 = par.all_gather over ["dp"] dim 0 %w1 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %g1 = par.einsum "ij,jk->ik"(%g0, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s1 = par.reduce_scatter over ["dp"] dim 0 %g1 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %b1 = arith.addf %s1, %a1 : tensor<4x8xf32>
  %2 = par.all_gather over ["dp"] dim 0 %w2 : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %g2 = par.einsum "ij,jk->ik"(%g1, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s2 = par.reduce_scatter over ["dp"] dim 0 %g2 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %b2 = arith.addf %s2, %a2 : tensor<4x8xf32>
  return %b0, %b1, %b2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
