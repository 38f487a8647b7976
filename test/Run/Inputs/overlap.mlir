// A rank program in which %c, and %d, are made while %b is received from %a. Offsets: 0 %a, 64 %b, 128 %c, 192 %d.
module attributes {par.model = {vocab = 4 : i64}} {
par.mesh @mesh <["dp"=2]>
rank.func @work(%t: !rank.buffer<8>, %loss: !rank.buffer<4>, %norm: !rank.buffer<4>) attributes {results = 2 : i64, frame = 196 : i64} {
  %a = rank.alloc workspace {offset = 0 : i64} : !rank.buffer<4>
  %b = rank.alloc workspace {offset = 64 : i64} : !rank.buffer<4>
  rank.kernel ins() outs(%a : !rank.buffer<4>) {
    %0 = arith.constant dense<3.0> : tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  %e = rank.start ins(%a : !rank.buffer<4>) outs(%b : !rank.buffer<4>) attributes {number = 0 : i64} {
  ^bb0(%x: tensor<f32>):
    %0 = par.all_reduce sum over ["dp"] %x : (tensor<f32>) -> tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  %c = rank.alloc workspace {offset = 128 : i64} : !rank.buffer<4>
  rank.kernel ins() outs(%c : !rank.buffer<4>) {
    %0 = arith.constant dense<5.0> : tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  %d = rank.alloc workspace {offset = 192 : i64} : !rank.buffer<4>
  rank.copy %c to %d : !rank.buffer<4>, !rank.buffer<4>
  rank.wait %e
  rank.copy %b to %loss : !rank.buffer<4>, !rank.buffer<4>
  rank.copy %d to %norm : !rank.buffer<4>, !rank.buffer<4>
  rank.return
}
rank.schedule train attributes {peak_bytes = 324 : i64} {
  %t = rank.slot input "tokens" workspace {offset = 0 : i64, micro_batch = 0 : i64, tensor = tensor<1x2xi32>, global_type = tensor<2x2xi32>, sharding = #par.sharding<@mesh, [{"dp"}, {}]>} : !rank.buffer<8>
  %l = rank.slot output "loss" workspace {offset = 64 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %n = rank.slot output "grad_norm" workspace {offset = 68 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "forward" workspace {offset = 128 : i64} : !rank.buffer<196>
  rank.action forward @work frame %f : !rank.buffer<196> ins(%t : !rank.buffer<8>) outs(%l, %n : !rank.buffer<4>, !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.return
}
}
