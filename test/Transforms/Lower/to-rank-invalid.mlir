// RUN: par-opt %s -split-input-file -par-to-rank -verify-diagnostics -o /dev/null
// RUN: not par-opt %s -par-to-rank=micro-batches=0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: par-to-rank: micro-batches is 0, expected at least 1

// expected-error @+1 {{par-to-rank: argument 0 has par.input = "temperature", which the runtime does not supply (docs/IR.md lists what it does)}}
func.func @train(%x: tensor<f32> {par.input = "temperature"}) -> (tensor<f32> {par.output = "loss"}) attributes {par.phase = "forward"} {
  return %x : tensor<f32>
}
