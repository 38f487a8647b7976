// RUN: par-opt %s -rank-number-work | FileCheck %s

// Everything that takes time is numbered, collectives also among themselves; calls and memory are not.
par.mesh @mesh <["dp"=2]>
// CHECK: rank.copy {{.*}} {work = 0 : i64}
// CHECK: rank.alloc workspace :
// CHECK: rank.collective {{.*}} attributes {number = 0 : i64, work = 1 : i64}
// CHECK: rank.call @copy {{.*}} outs({{[^)]*}}){{$}}
// CHECK: rank.start {{.*}} attributes {number = 1 : i64, work = 2 : i64}
// CHECK: rank.start {{.*}} attributes {work = 3 : i64}
rank.func @copy(%x: !rank.buffer<16>, %y: !rank.buffer<16>) attributes {results = 1 : i64} {
  rank.copy %x to %y : !rank.buffer<16>, !rank.buffer<16>
  rank.return
}
rank.func @f(%x: !rank.buffer<16>, %m: !rank.buffer<16, pinned>, %y: !rank.buffer<16>, %z: !rank.buffer<16>) attributes {results = 2 : i64} {
  %f = rank.alloc workspace : !rank.buffer<0>
  rank.collective ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  rank.call @copy frame %f : !rank.buffer<0> ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>)
  %e = rank.start ins(%x : !rank.buffer<16>) outs(%y : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.all_reduce sum over ["dp"] %t : (tensor<4xf32>) -> tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  %g = rank.start ins(%m : !rank.buffer<16, pinned>) outs(%z : !rank.buffer<16>) {
  ^bb0(%t: tensor<4xf32>):
    %0 = par.transfer %t to <device> : tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  rank.wait %e
  rank.wait %g
  rank.return
}
