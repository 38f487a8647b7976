// Two stages, two micro-batches: 3 and 5 go from the first stage to the second one, which adds them up (loss) and sends
// twice of each back, to be added up there (grad_norm).
module attributes {par.model = {vocab = 4 : i64}} {
rank.func @three(%a: !rank.buffer<4>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.kernel ins() outs(%a : !rank.buffer<4>) {
    %0 = arith.constant dense<3.0> : tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  rank.return
}
rank.func @five(%a: !rank.buffer<4>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.kernel ins() outs(%a : !rank.buffer<4>) {
    %0 = arith.constant dense<5.0> : tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  rank.return
}
rank.func @twice(%a: !rank.buffer<4>, %b: !rank.buffer<4>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.kernel ins(%a : !rank.buffer<4>) outs(%b : !rank.buffer<4>) {
  ^bb0(%x: tensor<f32>):
    %0 = arith.addf %x, %x : tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  rank.return
}
rank.func @add(%a: !rank.buffer<4>, %b: !rank.buffer<4>, %c: !rank.buffer<4>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.kernel ins(%a, %b : !rank.buffer<4>, !rank.buffer<4>) outs(%c : !rank.buffer<4>) {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = arith.addf %x, %y : tensor<f32>
    rank.yield %0 : tensor<f32>
  }
  rank.return
}
rank.func @keep(%a: !rank.buffer<4>, %b: !rank.buffer<4>) attributes {results = 1 : i64, frame = 0 : i64} {
  rank.copy %a to %b : !rank.buffer<4>, !rank.buffer<4>
  rank.return
}
rank.func @none() attributes {results = 0 : i64, frame = 0 : i64} { rank.return }
rank.schedule train stage 0 attributes {peak_bytes = 512 : i64} {
  %t0 = rank.slot input "tokens" workspace {offset = 0 : i64, tensor = tensor<1x2xi32>, global_type = tensor<1x2xi32>, micro_batch = 0 : i64} : !rank.buffer<8>
  %t1 = rank.slot input "tokens" workspace {offset = 64 : i64, tensor = tensor<1x2xi32>, global_type = tensor<1x2xi32>, micro_batch = 1 : i64} : !rank.buffer<8>
  %h0 = rank.slot residual "0.0.0" activations {offset = 128 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %d0 = rank.slot residual "0.1.0" activations {offset = 192 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %h1 = rank.slot residual "0.0.1" activations {offset = 256 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %d1 = rank.slot residual "0.1.1" activations {offset = 320 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %n = rank.slot output "grad_norm" workspace {offset = 384 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace {offset = 448 : i64} : !rank.buffer<0>
  rank.action forward @three frame %f : !rank.buffer<0> ins() outs(%h0 : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange send_activation with [1] ins(%h0 : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action forward @five frame %f : !rank.buffer<0> ins() outs(%h1 : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange send_activation with [1] ins(%h1 : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange receive_gradient with [1] ins() outs(%d0 : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange received_gradient with [1] ins() outs(%d0 : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.action backward @keep frame %f : !rank.buffer<0> ins(%d0 : !rank.buffer<4>) outs(%n : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange receive_gradient with [1] ins() outs(%d1 : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange received_gradient with [1] ins() outs(%d1 : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.action backward @add frame %f : !rank.buffer<0> ins(%n, %d1 : !rank.buffer<4>, !rank.buffer<4>) outs(%n : !rank.buffer<4>) {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.exchange sent_activation with [1] ins(%h0 : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 0 : i64}
  rank.exchange sent_activation with [1] ins(%h1 : !rank.buffer<4>) outs() {chunk = 0 : i64, micro_batch = 1 : i64}
  rank.action reduce @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.action norm @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.exchange sum_squares with [0, 1] ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.action update @none frame %f : !rank.buffer<0> ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.return
}
rank.schedule train stage 1 attributes {peak_bytes = 384 : i64} {
  %h0 = rank.slot residual "1.0.0" activations {offset = 0 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %d0 = rank.slot residual "1.1.0" activations {offset = 64 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %h1 = rank.slot residual "1.0.1" activations {offset = 128 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %d1 = rank.slot residual "1.1.1" activations {offset = 192 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %l = rank.slot output "loss" workspace {offset = 256 : i64, tensor = tensor<f32>} : !rank.buffer<4>
  %f = rank.slot frame "frame" workspace {offset = 320 : i64} : !rank.buffer<0>
  rank.exchange receive_activation with [0] ins() outs(%h0 : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange received_activation with [0] ins() outs(%h0 : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action forward @keep frame %f : !rank.buffer<0> ins(%h0 : !rank.buffer<4>) outs(%l : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.action backward @twice frame %f : !rank.buffer<0> ins(%h0 : !rank.buffer<4>) outs(%d0 : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange send_gradient with [0] ins(%d0 : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange receive_activation with [0] ins() outs(%h1 : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.exchange received_activation with [0] ins() outs(%h1 : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.action forward @add frame %f : !rank.buffer<0> ins(%l, %h1 : !rank.buffer<4>, !rank.buffer<4>) outs(%l : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.action backward @twice frame %f : !rank.buffer<0> ins(%h1 : !rank.buffer<4>) outs(%d1 : !rank.buffer<4>) {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.exchange send_gradient with [0] ins(%d1 : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.exchange sent_gradient with [0] ins(%d0 : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 0 : i64}
  rank.exchange sent_gradient with [0] ins(%d1 : !rank.buffer<4>) outs() {chunk = 1 : i64, micro_batch = 1 : i64}
  rank.action reduce @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = -1 : i64}
  rank.action norm @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = -1 : i64}
  rank.exchange sum_squares with [0, 1] ins() outs() {chunk = 0 : i64, micro_batch = -1 : i64}
  rank.action update @none frame %f : !rank.buffer<0> ins() outs() {chunk = 1 : i64, micro_batch = -1 : i64}
  rank.return
}
}
