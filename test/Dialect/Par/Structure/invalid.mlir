// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

// mesh_c1
// expected-note @+1 {{the first one is @a}}
par.mesh @a <["dp"=2]>
// expected-error @+1 {{mesh_c1: a module has at most one mesh}}
par.mesh @b <["dp"=2]>

// -----

// variable_c1
// expected-error @+1 {{variable_c1: 1 dimension names for a tensor of rank 2}}
par.variable @w : tensor<2x3xf32> dims ["embed"] {role = #par.role<parameter>}

// -----

// variable_c2: unknown axis, and another rank; both are reported
par.mesh @mesh <["dp"=2]>
// expected-error @+2 {{variable_c2: storage: sharding_c1: axis "tp" is not one of the mesh}}
// expected-error @+1 {{variable_c2: compute: sharding_c3}}
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>,
  storage = #par.sharding<@mesh, [{"tp"}]>, compute = #par.sharding<@mesh, [{}, {}]>}

// -----

// variable_c3
// expected-error @+2 {{variable_c3: permutation of file "w" must hold each of the 2 dimensions once}}
// expected-error @+1 {{variable_c3: shape of file "w" has 8 elements, the variable has 6}}
par.variable @w : tensor<2x3xf32> dims ["a", "b"] {role = #par.role<parameter>,
  file = #par.file<"w", shape = [8], permutation = [1, 1]>}

// -----

// variable_c3: negative sizes whose product is right
// expected-error @+1 {{variable_c3: shape of file "w" has a negative size or more elements than can be counted}}
par.variable @w : tensor<2x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", shape = [-2, -3]>}

// -----

// variable_c3: sizes whose product wraps around to what is right
// expected-error @+1 {{variable_c3: shape of file "v" has a negative size or more elements than can be counted}}
par.variable @v : tensor<2x0xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"v", shape = [4294967296, 4294967296]>}

// -----

// variable_c3: a part that the variable does not have
// expected-error @+1 {{variable_c3: at of file "w" is [0:4, 0:3], expected a range of each of the variable's dimensions [2, 3]}}
par.variable @w : tensor<2x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", at = [0:4, :]>}

// -----

// variable_c3: a slice that the tensor does not have
// expected-error @+1 {{variable_c3: slice of file "w" is [3:5, 0:3], expected a range of each of the dimensions [4, 3]}}
par.variable @w : tensor<2x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", shape = [4, 3], slice = [3:5, :]>}

// -----

// variable_c3: a view of another size
// expected-error @+1 {{variable_c3: view of file "w" is [3, 2], expected as many elements as its shape [4, 3]}}
par.variable @w : tensor<2x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", shape = [4, 3], view = [3, 2]>}

// -----

// variable_c3: a slice of another size than the part
// expected-error @+1 {{variable_c3: slice of file "w" has 3 elements, the variable has 6}}
par.variable @w : tensor<2x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", shape = [4, 3], slice = [1, :]>}

// -----

// variable_c3: a dimension that goes on behind a gap of the slice
// expected-error @+1 {{variable_c3: slice of file "w" is [0:2, 0:3] of [2, 8], in which the part's dimensions [6] have no steps of one length}}
par.variable @w : tensor<6xf32> dims ["a"] {role = #par.role<parameter>, file = #par.file<"w", shape = [2, 8], slice = [:, 0:3]>}

// -----

// variable_c3: a gap
// expected-error @+1 {{variable_c3: the pieces have 6 of the variable's 12 elements, expected all}}
par.variable @w : tensor<4x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", at = [1:3, :]>}

// -----

// variable_c3: an overlap
// expected-error @+1 {{variable_c3: the pieces at [0:2, 0:3] and [1:4, 0:3] overlap}}
par.variable @w : tensor<4x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<[<"v", at = [0:2, :]>, <"w", at = [1:4, :]>]>}

// -----

// variable_c3: tensors that do not divide the dimension
// expected-error @+1 {{variable_c3: stack of file "w{}" is 3, which does not divide dimension 0 of the part [0:4, 0:3]}}
par.variable @w : tensor<4x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w{}", stack = 3>}

// -----

// variable_c3: tensors of one name
// expected-error @+1 {{variable_c3: stack of file "w" is 2 with "{}" 0 times in its name, expected 1 to 1048576 tensors and "{}" once}}
par.variable @w : tensor<4x3xf32> dims ["a", "b"] {role = #par.role<parameter>, file = #par.file<"w", stack = 2>}

// -----

// variable_c3: an offset that f32 does not have
// expected-error @+1 {{variable_c3: offset is no number of f32}}
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, file = #par.file<"w", offset = 0.1>}

// -----

// expected-error @+1 {{elements 3:2, expected 0 <= begin < end}}
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, file = #par.file<"w", at = [3:2]>}

// -----

// expected-error @+1 {{at is there twice}}
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, file = #par.file<"w", at = [0:4], at = [0:4]>}

// -----

// expected-error @+1 {{expected shape, permutation, view, slice, at, stack or offset, got strides}}
par.variable @w : tensor<4xf32> dims ["a"] {role = #par.role<parameter>, file = #par.file<"w", strides = [1]>}

// -----

// variable_c4: needs an owner
// expected-error @+1 {{variable_c4: a variable of role moment needs `of`}}
par.variable @m : tensor<2xf32> dims ["a"] {role = #par.role<moment>}

// -----

// variable_c4: names no variable
// expected-error @+2 {{variable_c4: of @nobody names no par.variable}}
// expected-error @+1 {{variable_c4: alias @nothing names no par.variable}}
par.variable @m : tensor<2xf32> dims ["a"] {role = #par.role<moment>, of = @nobody, alias = @nothing}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // call_c1
  // expected-error @+1 {{call_c1: @block names no function of this module}}
  %y = par.call @block(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-note @+1 {{the callee}}
func.func private @block(tensor<8xf32>) -> tensor<8xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // call_c2: types
  // expected-error @+2 {{call_c2: operand 0 is 'tensor<4xf32>', @block has 'tensor<8xf32>'}}
  // expected-error @+1 {{call_c2: result 0 is 'tensor<4xf32>', @block has 'tensor<8xf32>'}}
  %y = par.call @block(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-note @+1 {{the callee}}
func.func private @block(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // call_c2: number
  // expected-error @+1 {{call_c2: 2 operands, @block has 1}}
  %y = par.call @block(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// variable_c7
// expected-error @+1 {{variable_c7: par.frozen stands on a variable of role moment, expected parameter}}
par.variable @moment : tensor<4x2xf32> dims ["a", "b"] {role = #par.role<moment>, of = @w, par.frozen}
par.variable @w : tensor<4x2xf32> dims ["a", "b"] {role = #par.role<parameter>}

// -----

// variable_c7
par.variable @w : tensor<4x2xf32> dims ["a", "b"] {role = #par.role<parameter>, par.frozen}
// expected-error @+1 {{variable_c7: a variable of role moment belongs to @w, which par.frozen says has no state}}
par.variable @moment : tensor<4x2xf32> dims ["a", "b"] {role = #par.role<moment>, of = @w}

// -----

// variable_c6
// expected-error @+1 {{variable_c6: zero_row is 4, expected a number below the first dimension of 'tensor<4x2xf32>'}}
par.variable @w : tensor<4x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 0.02, zero_row = 4>}

// -----

// expected-error @+1 {{zero_row is -1, expected at least 0}}
par.variable @w : tensor<4x2xf32> dims ["vocab", "embed"] {role = #par.role<parameter>, init = #par.init<normal, 0.02, zero_row = -1>}

// -----

// expected-note @+1 {{the callee}}
func.func private @block(tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
func.func @main(%x: tensor<6x3xf32>, %w: tensor<9xf32>) -> tensor<6x3xf32> {
  // call_c2: parts follow each other in memory, and there are as many as is said
  // expected-error @+3 {{call_c2: operand 0 is 'tensor<6x3xf32>', @block has 'tensor<2x3xf32>', which is neither that nor one of 2 parts of it}}
  // expected-error @+2 {{call_c2: result 0 is 'tensor<6x3xf32>', @block has 'tensor<2x3xf32>', which is neither that nor one of 2 parts of it}}
  // expected-error @+1 {{call_c2: operand 1 is 'tensor<9xf32>', @block has 'tensor<3xf32>', which is neither that nor one of 2 parts of it}}
  %y = par.call @block(%x, %w) {parts = 2 : i64} : (tensor<6x3xf32>, tensor<9xf32>) -> tensor<6x3xf32>
  return %y : tensor<6x3xf32>
}

// -----

// expected-note @+1 {{the callee}}
func.func private @block(tensor<2x1xf32>) -> tensor<1x1xf32>
func.func @main(%x: tensor<2x3xf32>) -> tensor<1x3xf32> {
  // call_c2: columns do not
  // expected-error @+1 {{call_c2: operand 0 is 'tensor<2x3xf32>', @block has 'tensor<2x1xf32>', which is neither that nor one of 3 parts of it}}
  %y = par.call @block(%x) {parts = 3 : i64} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// -----

// expected-note @+1 {{the callee}}
func.func private @block(tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {
  // call_c3: what is no part goes from part to part
  // expected-error @+1 {{call_c3: result 1 is not made of 2 parts, so @block must say by #par.place<alias …> as which operand of type 'tensor<f32>' the next part finds it}}
  %y, %t = par.call @block(%x, %s) {parts = 2 : i64} : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return %t : tensor<f32>
}

// -----

func.func private @block(tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{call_c3: parts = 0, expected 1 or more}}
  %y = par.call @block(%x) {parts = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// variable_c5
par.mesh @mesh <["dp"=2]>
// expected-error @+1 {{variable_c5: storage #par.sharding<@mesh, [{"dp", ?}]> must leave no dimension open and nothing unreduced}}
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>, storage = #par.sharding<@mesh, [{"dp", ?}]>}

// -----

// variable_c5
par.mesh @mesh <["dp"=2]>
// expected-error @+1 {{variable_c5: par.state_storage names the role "step", expected accumulator, gradient, moment or master}}
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>, par.state_storage = {step = #par.sharding<@mesh, [{"dp"}]>}}

// -----

// variable_c5
par.mesh @mesh <["dp"=2]>
// expected-error @+1 {{variable_c5: par.state_storage of "moment" must be a sharding without open dimensions and partial sums}}
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>, par.state_storage = {moment = #par.sharding<@mesh, [{}], unreduced={"dp"}>}}

// -----

// variable_c5
par.mesh @mesh <["dp"=2]>
// expected-error @+1 {{variable_c5: par.state_storage: sharding_c3}}
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>, par.state_storage = {moment = #par.sharding<@mesh, [{"dp"}, {}]>}}

// -----

// Without a role nothing else is asked of it.
par.mesh @mesh <["dp"=2]>
// expected-error @+1 {{'par.variable' op requires attribute 'role'}}
par.variable @w : tensor<2xf32> dims ["embed"] {par.state_storage = {moment = #par.sharding<@mesh, [{"dp"}]>}}

// -----

// variable_c5
par.mesh @mesh <["dp"=2]>
func.func @not_a_variable(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{attribute_c2: par.state_storage is of par.variable only}}
  %y = math.tanh %x {par.state_storage = {moment = #par.sharding<@mesh, [{"dp"}]>}} : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// variable_c5
par.mesh @mesh <["dp"=2]>
par.variable @w : tensor<2xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @+1 {{variable_c5: par.state_storage is a dictionary of shardings on a parameter}}
par.variable @m : tensor<2xf32> dims ["embed"] {role = #par.role<moment>, of = @w, par.state_storage = {moment = #par.sharding<@mesh, [{"dp"}]>}}

// -----

// plan_c1
// expected-error @+1 {{plan_c1: zero is 4, expected from 0 to 3}}
module attributes {par.plan = #par.plan<zero = 4>} {}

// -----

// expected-error @+1 {{plan_c1: mesh.dp is 0, expected from 1 to}}
module attributes {par.plan = #par.plan<mesh = ["dp" = 0]>} {}

// -----

// plan_c2
// expected-error @+1 {{plan_c2: the field seq is given twice}}
module attributes {par.plan = #par.plan<seq = 1, seq = 2>} {}

// -----

// expected-error @+1 {{unknown field of a plan: stage}}
module attributes {par.plan = #par.plan<stage = 1>} {}

// -----

// expected-error @+1 {{expected one of none, selective, full, auto}}
module attributes {par.plan = #par.plan<recompute = "some">} {}
