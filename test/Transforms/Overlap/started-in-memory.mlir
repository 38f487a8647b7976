// RUN: par-opt %s -rank-plan-memory -rank-number-work | FileCheck %s

// What a started collective reads and writes is its own until the wait: %c, which is made meanwhile, lies over neither; %d lies where %a was.
par.mesh @mesh <["dp"=2]>
// CHECK-LABEL: rank.func @held
// CHECK-SAME: frame = 768 : i64
// CHECK: %[[A:.*]] = rank.alloc{{ +}}workspace {offset = 0 : i64}
// CHECK: %[[B:.*]] = rank.alloc{{ +}}communication {offset = 256 : i64}
// CHECK: rank.start {{.*}} attributes {number = 0 : i64, work = 1 : i64}
// CHECK: %[[C:.*]] = rank.alloc{{ +}}workspace {offset = 512 : i64}
// CHECK: %[[D:.*]] = rank.alloc{{ +}}workspace {offset = 0 : i64}
rank.func @held(%x: !rank.buffer<256>, %y: !rank.buffer<256>, %z: !rank.buffer<256>) attributes {results = 2 : i64} {
  %a = rank.alloc workspace : !rank.buffer<256>
  %b = rank.alloc communication : !rank.buffer<256>
  rank.copy %x to %a : !rank.buffer<256>, !rank.buffer<256>
  %e = rank.start ins(%a : !rank.buffer<256>) outs(%b : !rank.buffer<256>) {
  ^bb0(%t: tensor<64xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<64xf32>) -> tensor<64xf32>
    rank.yield %0 : tensor<64xf32>
  }
  %c = rank.alloc workspace : !rank.buffer<256>
  rank.copy %x to %c : !rank.buffer<256>, !rank.buffer<256>
  rank.copy %c to %y : !rank.buffer<256>, !rank.buffer<256>
  rank.wait %e
  %d = rank.alloc workspace : !rank.buffer<256>
  rank.copy %b to %d : !rank.buffer<256>, !rank.buffer<256>
  rank.copy %d to %z : !rank.buffer<256>, !rank.buffer<256>
  rank.return
}
