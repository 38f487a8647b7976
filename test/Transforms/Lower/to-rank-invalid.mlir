// RUN: par-opt %s -split-input-file -par-to-rank -verify-diagnostics -o /dev/null
// RUN: not par-opt %s -par-to-rank=micro-batches=0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: par-to-rank: micro-batches is 0, expected at least 1

// expected-error @+1 {{par-to-rank: argument 0 has par.input = "temperature", which the runtime does not supply (docs/IR.md lists what it does)}}
func.func @train(%x: tensor<f32> {par.input = "temperature"}) -> (tensor<f32> {par.output = "loss"}) attributes {par.phase = "forward"} {
  return %x : tensor<f32>
}

// -----

// Host memory holds variables, no values in between.
func.func @forward(%t: tensor<4xf32> {par.input = "tokens"}) -> (tensor<4xf32> {par.residual = 0 : i64}) attributes {par.chunk = 0 : i64, par.phase = "forward"} {
  // expected-error @+1 {{par-to-rank: only what is written to a variable in host memory may be sent there}}
  %h = par.transfer %t to <host> : tensor<4xf32>
  %s = math.tanh %h : tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func @backward(%r: tensor<4xf32> {par.residual = 0 : i64}) attributes {par.chunk = 0 : i64, par.phase = "backward"} { return }
func.func @reduce() attributes {par.phase = "reduce"} { return }
func.func @update() attributes {par.phase = "update"} { return }
