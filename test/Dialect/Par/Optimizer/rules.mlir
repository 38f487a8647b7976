// RUN: par-opt %s -par-print-sharding-rules -verify-diagnostics -o /dev/null

// Scalars have no factor.
func.func @optimizers(%p: tensor<8x4xf32>, %s: tensor<f32>) {
  // expected-remark @+1 {{#par.rule<([a, b], [a, b], [a, b], [a, b], [], [], [], [], [], [], [], [])->([a, b], [a, b], [a, b]) {a=8, b=4}>}}
  %p1, %m1, %v1 = par.adamw %p, %p, %p, %p scalars %s, %s, %s, %s, %s, %s, %s, %s
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  // expected-remark @+1 {{#par.rule<([a, b], [a, b], [], [], [])->([a, b]) {a=8, b=4}>}}
  %p2 = par.sgd %p, %p scalars %s, %s, %s : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>
  return
}
