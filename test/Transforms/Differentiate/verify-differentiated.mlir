// RUN: par-opt %s -split-input-file -par-verify-differentiated -verify-diagnostics

// differentiated_c1, differentiated_c5: nothing was done yet.
// expected-error @below {{differentiated_c5: no function has par.phase = "reduce"; run par-build-optimizer}}
// expected-error @below {{differentiated_c5: no function has par.phase = "norm"; run par-build-optimizer}}
// expected-error @below {{differentiated_c5: no function has par.phase = "update"; run par-build-optimizer}}
module {
  // expected-error @below {{differentiated_c1: chunk 0 has no function with par.phase = "backward"; run par-differentiate}}
  func.func @forward() attributes {par.phase = "forward"} {
    return
  }
}

// -----

// differentiated_c1: a mark is left.
func.func @reduce(%x: tensor<2xf32>) attributes {par.phase = "reduce"} {
  // expected-error @below {{differentiated_c1: par.save is left; par-differentiate should have turned it into a residual}}
  %y = arith.negf %x {par.save = array<i64: 0>} : tensor<2xf32>
  return
}
func.func @norm() attributes {par.phase = "norm"} {
  return
}
func.func @update() attributes {par.phase = "update"} {
  return
}

// -----

// differentiated_c2: the backward function takes a residual as another type.
// expected-note @below {{returned as 'tensor<2xf32>'}}
func.func @forward(%x: tensor<2xf32>) -> (tensor<2xf32> {par.residual = 0 : i64}) attributes {par.phase = "forward"} {
  return %x : tensor<2xf32>
}
// expected-error @below {{differentiated_c2: @backward: argument 0 takes residual 0 as 'tensor<3xf32>', not as it is returned; see par-differentiate}}
func.func @backward(%x: tensor<3xf32> {par.residual = 0 : i64}) attributes {par.phase = "backward"} {
  return
}
func.func @reduce() attributes {par.phase = "reduce"} {
  return
}
func.func @norm() attributes {par.phase = "norm"} {
  return
}
func.func @update() attributes {par.phase = "update"} {
  return
}

// -----

// differentiated_c2: a residual that nobody takes wastes memory.
// expected-error @below {{differentiated_c2: @forward returns residual 0, which no backward function takes; par-select-residuals should not have saved it}}
func.func @forward(%x: tensor<2xf32>) -> (tensor<2xf32> {par.residual = 0 : i64}) attributes {par.phase = "forward"} {
  return %x : tensor<2xf32>
}
func.func @backward() attributes {par.phase = "backward"} {
  return
}
func.func @reduce() attributes {par.phase = "reduce"} {
  return
}
func.func @norm() attributes {par.phase = "norm"} {
  return
}
func.func @update() attributes {par.phase = "update"} {
  return
}

// -----

// differentiated_c3: the backward function forgets an accumulator.
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>}
par.variable @w.accumulator : tensor<2xf32> dims ["embed"] {role = #par.role<accumulator>, of = @w}
// expected-error @below {{differentiated_c3: the backward function of @forward does not read and update @w.accumulator; see par-differentiate}}
func.func @forward(%x: tensor<2xf32> {par.bind = @w}) attributes {par.phase = "forward"} {
  return
}
func.func @backward(%x: tensor<2xf32> {par.bind = @w.accumulator}) attributes {par.phase = "backward"} {
  return
}
func.func @reduce() attributes {par.phase = "reduce"} {
  return
}
func.func @norm() attributes {par.phase = "norm"} {
  return
}
func.func @update() attributes {par.phase = "update"} {
  return
}

// -----

// differentiated_c4: a result is written over an argument of another type.
// expected-error @below {{differentiated_c4: @layer: result 0 has type 'tensor<2xf32>' and is written over argument 1 of type 'tensor<3xf32>'; see par-differentiate}}
func.func private @layer(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32> {par.alias = 1 : i64}) {
  return %x : tensor<2xf32>
}
func.func @reduce() attributes {par.phase = "reduce"} {
  return
}
func.func @norm() attributes {par.phase = "norm"} {
  return
}
func.func @update() attributes {par.phase = "update"} {
  return
}
