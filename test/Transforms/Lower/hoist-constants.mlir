// RUN: par-opt %s -split-input-file -par-set-target="target=cuda chip=sm_90" -par-hoist-constants | FileCheck %s

// A processor launches nothing: each layer goes on making its own, which takes no memory.
// RUN: par-opt %s -split-input-file -par-hoist-constants | FileCheck %s --check-prefix=CPU
// CPU: par.rotary %
// CPU-NOT: par.rotary_tables
// CPU-NOT: par.rotate

// Positions and rotations of layers are made once: tables in a function of the step, positions by the runtime. What
// follows from a layer's number is known where the layer is called. The mask stays with the kernel that uses it.
// CHECK-LABEL: func.func private @block(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x8x2x4xf32>, %[[KEY:[a-z0-9]+]]: tensor<2xi32>, %{{[a-z0-9]+}}: tensor<i32>,
// CHECK-SAME: %[[COS:[a-z0-9]+]]: tensor<8x2xf32>, %[[SIN:[a-z0-9]+]]: tensor<8x2xf32>, %[[P:[a-z0-9]+]]: tensor<8xi32>, %[[SITE:[a-z0-9]+]]: tensor<i32>, %[[ZERO:[a-z0-9]+]]: tensor<i32>, %[[ZEROS:[a-z0-9]+]]: tensor<5xi32>)
// CHECK: %[[Q:.*]] = par.rotate %[[X]], %[[COS]], %[[SIN]] : (
// CHECK: %[[K:.*]] = par.rotate %[[X]], %[[COS]], %[[SIN]] {transposed}
// CHECK: %[[Q5:.*]] = par.reshape %[[Q]]
// CHECK: par.attention %[[Q5]], %[[K]], %[[X]] positions %[[P]], %[[P]] dropout %[[KEY]] site %[[SITE]] row %[[ZERO]] offsets %[[ZEROS]]
// CHECK: par.iota
// CHECK: arith.cmpi
// CHECK: return

// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[N0:[a-z0-9]+]]: tensor<i32> {par.place = #par.place<constant 0 : i32>}, %[[POSITIONS:[a-z0-9]+]]: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>},
// CHECK-SAME: %[[N1:[a-z0-9]+]]: tensor<i32> {par.place = #par.place<constant 1 : i32>}, %[[NONE:[a-z0-9]+]]: tensor<5xi32> {par.place = #par.place<constant 0 : i32>},
// CHECK-SAME: %[[N4:[a-z0-9]+]]: tensor<i32> {par.place = #par.place<constant 4 : i32>})
// CHECK: %[[T:.*]], %[[U:.*]] = par.rotary_tables %{{.*}} {frequencies
// CHECK-NOT: par.rotary_tables
// CHECK-NOT: arith.constant
// CHECK: par.call @block(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[N0]], %[[T]], %[[U]], %[[POSITIONS]], %[[N1]], %[[N0]], %[[NONE]])
// CHECK: par.call @block(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[N1]], %[[T]], %[[U]], %[[POSITIONS]], %[[N4]], %[[N0]], %[[NONE]])
func.func private @block(%x: tensor<1x8x2x4xf32>, %key: tensor<2xi32>, %layer: tensor<i32>) -> tensor<1x8x2x4xf32> {
  %p = par.iota dim 0 : tensor<8xi32>
  %q = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<1x8x2x4xf32>, tensor<8xi32>) -> tensor<1x8x2x4xf32>
  %k = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>, transposed} : (tensor<1x8x2x4xf32>, tensor<8xi32>) -> tensor<1x8x2x4xf32>
  %three = arith.constant dense<3> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %sites = arith.muli %layer, %three : tensor<i32>
  %site = arith.addi %sites, %one : tensor<i32>
  %row = arith.constant dense<0> : tensor<i32>
  %offsets = arith.constant dense<0> : tensor<5xi32>
  %q5 = par.reshape %q : tensor<1x8x2x4xf32> -> tensor<1x8x2x1x4xf32>
  %out, %lse = par.attention %q5, %k, %x positions %p, %p dropout %key site %site row %row offsets %offsets
      {causal, scale = 0.5 : f64, dropout = 0.1 : f64, strides = array<i64: 128, 64, 64, 8, 1>}
      : (tensor<1x8x2x1x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<8xi32>, tensor<8xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<5xi32>)
      -> (tensor<1x8x2x1x4xf32>, tensor<1x2x1x8xf32>)
  %y = par.reshape %out : tensor<1x8x2x1x4xf32> -> tensor<1x8x2x4xf32>
  %column = par.iota dim 3 : tensor<1x8x2x4xi32>
  %limit = arith.constant dense<3> : tensor<1x8x2x4xi32>
  %mask = arith.cmpi slt, %column, %limit : tensor<1x8x2x4xi32>
  %zero = arith.constant dense<0.0> : tensor<1x8x2x4xf32>
  %z = arith.select %mask, %y, %zero : tensor<1x8x2x4xi1>, tensor<1x8x2x4xf32>
  return %z : tensor<1x8x2x4xf32>
}
par.variable @x : tensor<1x8x2x4xf32> dims ["batch", "seq", "heads", "head_dim"] {role = #par.role<parameter>}
func.func @forward(%x: tensor<1x8x2x4xf32> {par.place = #par.place<variable @x>}, %key: tensor<2xi32> {par.place = #par.place<input dropout_key>})
    -> (tensor<1x8x2x4xf32> {par.place = #par.place<residual 0>}) attributes {par.phase = #par.phase<forward>} {
  %first = arith.constant dense<0> : tensor<i32>
  %0 = par.call @block(%x, %key, %first) : (tensor<1x8x2x4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<1x8x2x4xf32>
  %second = arith.constant dense<1> : tensor<i32>
  %1 = par.call @block(%0, %key, %second) : (tensor<1x8x2x4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<1x8x2x4xf32>
  return %1 : tensor<1x8x2x4xf32>
}

// -----

// What an input decides, or one call alone, is no constant; nor is what the next of several parts finds changed.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: tensor<8xi32>, %{{[a-z0-9]+}}: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>
// CHECK: par.rotary
// CHECK: func.func private @part(%{{[a-z0-9]+}}: tensor<i32>) -> (tensor<i32> {par.place = #par.place<alias 0>})
// CHECK: par.call @inner(
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: par.rotary_tables
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK: par.call @part(%[[ZERO]])
func.func private @layer(%p: tensor<8xi32>, %x: tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> {
  %q = par.rotary %x, %p {frequencies = array<f64: 1.0, 0.1>} : (tensor<1x8x2x4xf32>, tensor<8xi32>) -> tensor<1x8x2x4xf32>
  return %q : tensor<1x8x2x4xf32>
}
func.func private @inner(%n: tensor<i32>) -> tensor<i32> {
  return %n : tensor<i32>
}
func.func private @part(%sum: tensor<i32>) -> (tensor<i32> {par.place = #par.place<alias 0>}) {
  %two = arith.constant dense<2> : tensor<i32>
  %n = arith.addi %sum, %two : tensor<i32>
  %0 = par.call @inner(%n) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
par.variable @x : tensor<1x8x2x4xf32> dims ["batch", "seq", "heads", "head_dim"] {role = #par.role<parameter>}
par.variable @p : tensor<8xi32> dims ["seq"] {role = #par.role<step>, init = #par.init<zeros>}
func.func @forward(%x: tensor<1x8x2x4xf32> {par.place = #par.place<variable @x>}, %p: tensor<8xi32> {par.place = #par.place<variable @p>})
    -> (tensor<1x8x2x4xf32> {par.place = #par.place<residual 0>}, tensor<i32> {par.place = #par.place<residual 1>}) attributes {par.phase = #par.phase<forward>} {
  %positions = par.iota dim 0 : tensor<8xi32>
  %0 = par.call @layer(%positions, %x) : (tensor<8xi32>, tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>
  %1 = par.call @layer(%p, %0) : (tensor<8xi32>, tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>
  %zero = arith.constant dense<0> : tensor<i32>
  %2 = par.call @part(%zero) {parts = 3 : i64} : (tensor<i32>) -> tensor<i32>
  return %1, %2 : tensor<1x8x2x4xf32>, tensor<i32>
}

// -----

// An evaluation has the constants that the step has, and makes all others itself. A matrix stays where it is used.
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}
// CHECK: %[[ONE:.*]] = arith.constant dense<1> : tensor<i32>
// CHECK: par.call @layer(%{{.*}}, %[[ONE]])
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: tensor<8xi32> {par.place = #par.place<constant 0 : i32, step = 1>}
// CHECK-SAME: tensor<i32> {par.place = #par.place<constant 0 : i32>}
// CHECK: %[[MATRIX:.*]] = arith.constant dense<1> : tensor<2x4xi32>
// CHECK: par.call @matrix(%[[MATRIX]])
func.func private @matrix(%m: tensor<2x4xi32>) -> tensor<8xi32> {
  %0 = par.reshape %m : tensor<2x4xi32> -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func private @layer(%p: tensor<8xi32>, %n: tensor<i32>) -> tensor<8xi32> {
  %0 = par.expand %n dims [0] : tensor<i32> -> tensor<8xi32>
  %1 = arith.addi %p, %0 : tensor<8xi32>
  return %1 : tensor<8xi32>
}
func.func @eval() -> (tensor<8xi32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<eval>} {
  %p = par.iota dim 0 : tensor<8xi32>
  %n = arith.constant dense<1> : tensor<i32>
  %0 = par.call @layer(%p, %n) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @forward() -> (tensor<8xi32> {par.place = #par.place<boundary 0>}) attributes {par.phase = #par.phase<forward>} {
  %p = par.iota dim 0 : tensor<8xi32>
  %n = arith.constant dense<0> : tensor<i32>
  %0 = par.call @layer(%p, %n) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %m = arith.constant dense<1> : tensor<2x4xi32>
  %1 = par.call @matrix(%m) : (tensor<2x4xi32>) -> tensor<8xi32>
  %2 = arith.addi %0, %1 : tensor<8xi32>
  return %2 : tensor<8xi32>
}
