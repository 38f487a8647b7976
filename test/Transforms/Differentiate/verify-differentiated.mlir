// RUN: par-opt %s -split-input-file -par-verify-differentiated -verify-diagnostics

// differentiated_c1, differentiated_c4: nothing was done yet.
// expected-error @below {{differentiated_c4: no function is of phase reduce; run par-build-optimizer}}
// expected-error @below {{differentiated_c4: no function is of phase norm; run par-build-optimizer}}
// expected-error @below {{differentiated_c4: no function is of phase update; run par-build-optimizer}}
module {
  // expected-error @below {{differentiated_c1: chunk 0 has no function of phase backward; run par-differentiate}}
  func.func @forward() attributes {par.phase = #par.phase<forward>} {
    return
  }
}

// -----

// differentiated_c1: a mark is left.
func.func @reduce(%x: tensor<2xf32>) attributes {par.phase = #par.phase<reduce>} {
  // expected-error @below {{differentiated_c1: par.save is left; par-differentiate should have turned it into a residual}}
  %y = arith.negf %x {par.save = array<i64: 0>} : tensor<2xf32>
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}

// -----

// differentiated_c2: the backward function takes a residual as another type.
// expected-note @below {{returned as 'tensor<2xf32>'}}
func.func @forward(%x: tensor<2xf32>) -> (tensor<2xf32> {par.place = #par.place<residual 0>}) attributes {par.phase = #par.phase<forward>} {
  return %x : tensor<2xf32>
}
// expected-error @below {{differentiated_c2: @backward: argument 0 takes residual 0 as 'tensor<3xf32>', not as it is returned; see par-differentiate}}
func.func @backward(%x: tensor<3xf32> {par.place = #par.place<residual 0>}) attributes {par.phase = #par.phase<backward>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} {
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}

// -----

// differentiated_c2: a residual that nobody takes wastes memory.
// expected-error @below {{differentiated_c2: @forward returns residual 0, which no backward function takes; par-select-residuals should not have saved it}}
func.func @forward(%x: tensor<2xf32>) -> (tensor<2xf32> {par.place = #par.place<residual 0>}) attributes {par.phase = #par.phase<forward>} {
  return %x : tensor<2xf32>
}
// expected-note @below {{its backward function}}
func.func @backward() attributes {par.phase = #par.phase<backward>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} {
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}

// -----

// differentiated_c3: the backward function forgets an accumulator.
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-note @below {{it accumulates the gradient of @w}}
par.variable @w.accumulator : tensor<2xf32> dims ["embed"] {role = #par.role<accumulator>, of = @w}
// expected-error @below {{differentiated_c3: the backward function of @forward does not read and update @w.accumulator; see par-differentiate}}
func.func @forward(%x: tensor<2xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<forward>} {
  return
}
func.func @backward(%x: tensor<2xf32> {par.place = #par.place<variable @w.accumulator>}) attributes {par.phase = #par.phase<backward>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} {
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}

// -----

// differentiated_c1: a function of one chunk is none of another.
func.func @forward() attributes {par.phase = #par.phase<forward, chunk = 0>} {
  return
}
func.func @backward() attributes {par.phase = #par.phase<backward, chunk = 0>} {
  return
}
// expected-error @below {{differentiated_c1: chunk 1 has no function of phase backward; run par-differentiate}}
func.func @forward_1() attributes {par.phase = #par.phase<forward, chunk = 1>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} {
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}

// -----

// differentiated_c2: nobody makes the residual.
// expected-note @below {{@forward runs before it}}
func.func @forward(%x: tensor<2xf32>) attributes {par.phase = #par.phase<forward>} {
  return
}
// expected-error @below {{differentiated_c2: @backward: argument 0 takes residual 3, which no earlier function of its chunk returns; see par-differentiate}}
func.func @backward(%x: tensor<2xf32> {par.place = #par.place<residual 3>}) attributes {par.phase = #par.phase<backward>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} {
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}

// -----

// differentiated_c3: neither part of the backward pass updates the accumulator.
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-note @below {{it accumulates the gradient of @w}}
par.variable @w.accumulator : tensor<2xf32> dims ["embed"] {role = #par.role<accumulator>, of = @w}
func.func @forward(%x: tensor<2xf32> {par.place = #par.place<variable @w>}) attributes {par.phase = #par.phase<forward>} {
  return
}
func.func @backward(%x: tensor<2xf32> {par.place = #par.place<variable @w.accumulator>}) -> (tensor<2xf32> {par.place = #par.place<variable @w.accumulator>}) attributes {par.phase = #par.phase<backward>} {
  return %x : tensor<2xf32>
}
// expected-error @below {{differentiated_c3: @w.accumulator is not updated by exactly one of backward_input and backward_weight; see par-differentiate}}
func.func @backward_input() attributes {par.phase = #par.phase<backward_input>} {
  return
}
func.func @backward_weight() attributes {par.phase = #par.phase<backward_weight>} {
  return
}
func.func @reduce() attributes {par.phase = #par.phase<reduce>} {
  return
}
func.func @norm() attributes {par.phase = #par.phase<norm>} {
  return
}
func.func @update() attributes {par.phase = #par.phase<update>} {
  return
}
