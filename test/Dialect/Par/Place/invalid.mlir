// RUN: par-opt %s -split-input-file -verify-diagnostics -o /dev/null

// attribute_c1: a name of no attribute
// expected-error @+1 {{attribute_c1: par.phases is no attribute of par; docs/IR.md lists those that there are}}
func.func private @f() attributes {par.phases}

// -----

// attribute_c1: of an op, an argument, a result
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute_c1: par.note is no attribute of par}}
  %y = arith.negf %x {par.note} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{attribute_c1: argument 0: par.note is no attribute of par}}
func.func private @f(tensor<4xf32> {par.note})

// -----

// expected-error @+1 {{attribute_c1: result 0: par.note is no attribute of par}}
func.func private @f() -> (tensor<4xf32> {par.note})

// -----

// attribute_c1: what places replace
// expected-error @+1 {{attribute_c1: argument 1: par.bind is written par.place = #par.place<variable @name> now}}
func.func private @f(tensor<4xf32>, tensor<4xf32> {par.bind = @w})

// -----

// expected-error @+1 {{attribute_c1: result 0: par.output is written par.place = #par.place<output name> now}}
func.func private @f() -> (tensor<f32> {par.output = "loss"})

// -----

// expected-error @+1 {{attribute_c1: par.chunk is written par.phase = #par.phase<name, chunk = number> now}}
func.func private @f() attributes {par.chunk = 0 : i64}

// -----

// attribute_c2: where it means nothing
// expected-error @+1 {{attribute_c2: argument 0: par.phase is of functions only}}
func.func private @f(tensor<4xf32> {par.phase = #par.phase<forward>})

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute_c2: par.place is of arguments, results only}}
  %y = arith.negf %x {par.place = #par.place<residual 0>} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{attribute_c2: par.local is of functions only}}
module attributes {par.local} {
}

// -----

// attribute_c2: of another type
// expected-error @+1 {{attribute_c2: par.phase is "forward", expected #par.phase<…>}}
func.func private @f() attributes {par.phase = "forward"}

// -----

// expected-error @+1 {{attribute_c2: argument 0: par.place is 3 : i64, expected #par.place<…>}}
func.func private @f(tensor<4xf32> {par.place = 3 : i64})

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute_c2: par.cause is 1 : i64, expected a string}}
  %y = arith.negf %x {par.cause = 1 : i64} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{attribute_c2: argument 0: par.save is 1 : i64, expected a mark without a value}}
func.func private @f(tensor<4xf32> {par.save = 1 : i64})

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute_c2: par.save of an op is unit, expected the numbers of results}}
  %y = arith.negf %x {par.save} : tensor<4xf32>
  return
}

// -----

// dims_c1
// expected-error @+1 {{dims_c1: argument 0: par.dims is ["batch"], expected a name for each dimension of 'tensor<2x8xi32>'}}
func.func private @f(tensor<2x8xi32> {par.dims = ["batch"]})

// -----

// phase_c1
// expected-note @+1 {{the other function}}
func.func private @f(tensor<f32> {par.place = #par.place<input lr>}) attributes {par.phase = #par.phase<update, chunk = 1>}
// expected-error @+1 {{phase_c1: #par.phase<update, chunk = 1> is the phase of another function, too; a chunk has one of each}}
func.func private @g(tensor<f32> {par.place = #par.place<input lr>}) attributes {par.phase = #par.phase<update, chunk = 1>}

// -----

// phase_c2
// expected-error @+1 {{phase_c2: chunk = -1, expected a number from 0}}
func.func private @f() attributes {par.phase = #par.phase<forward, chunk = -1>}

// -----

// expected-error @+1 {{phase_c2: stage = -1, expected a number from 0}}
func.func private @f() attributes {par.phase = #par.phase<forward, chunk = 0, stage = -1>}

// -----

// phase_c3
// expected-note @+1 {{the other function}}
func.func private @f(tensor<f32> {par.place = #par.place<input lr>}) attributes {par.phase = #par.phase<update, chunk = 1>}
// expected-error @+1 {{phase_c3: is of stage 1, another function of chunk 1 of stage 0; a chunk is on one stage}}
func.func private @g(tensor<f32> {par.place = #par.place<input lr>}) attributes {par.phase = #par.phase<norm, chunk = 1, stage = 1>}

// -----

// A misspelt phase, place, input or output.
// expected-error @+1 {{unknown phase "forwards", expected gather, forward, backward, backward_input, backward_weight, backward_last, backward_weight_last, reduce, norm, update, eval, logits}}
func.func private @f() attributes {par.phase = #par.phase<forwards>}

// -----

// expected-error @+1 {{unknown place "bind", expected variable, input, output, residual, boundary, alias or constant}}
func.func private @f(tensor<4xf32> {par.place = #par.place<bind @w>})

// -----

// expected-error @+1 {{unknown input "temperature", expected tokens, targets, token_positions, token_documents, dropout_key, micro_batch, step, beta, shared_beta, loss_scale, loss_weight, lr,}}
func.func private @f(tensor<f32> {par.place = #par.place<input temperature>})

// -----

// expected-error @+1 {{unknown output "dx", expected loss, grad_norm, eval_loss, logits}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<output dx>})

// -----

// place_c1
// expected-error @+1 {{place_c1: number -2, expected one from 0}}
func.func private @f(tensor<4xf32> {par.place = #par.place<residual -2>})

// -----

// place_c2
// expected-error @+1 {{place_c2: argument 0 is #par.place<output loss>, which only a result can be}}
func.func private @f(tensor<f32> {par.place = #par.place<output loss>})

// -----

// expected-error @+1 {{place_c2: argument 1 is #par.place<alias 0>, which only a result can be}}
func.func private @f(tensor<f32>, tensor<f32> {par.place = #par.place<alias 0>})

// -----

// expected-error @+1 {{place_c2: result 0 is #par.place<input lr>, which only an argument can be}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<input lr>})

// -----

// place_c3
// expected-error @+1 {{place_c3: argument 0: @w names no par.variable}}
func.func private @f(tensor<4xf32> {par.place = #par.place<variable @w>})

// -----

// expected-note @+1 {{the variable}}
par.variable @w : tensor<4xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @+1 {{place_c3: result 0 is #par.place<variable @w> and of type 'tensor<8xf32>', the variable is 'tensor<4xf32>'}}
func.func private @f() -> (tensor<8xf32> {par.place = #par.place<variable @w>})

// -----

// place_c3: a local function's arguments are parts of the variable.
// expected-note @+1 {{the variable}}
par.variable @w : tensor<8xf32> dims ["embed"] {role = #par.role<parameter>}
// expected-error @+1 {{place_c3: argument 0 is #par.place<variable @w> and of type 'tensor<6xf32>', the variable is 'tensor<8xf32>'}}
func.func private @f(tensor<4xf32> {par.place = #par.place<variable @w>, par.global_type = tensor<6xf32>}) attributes {par.local}

// -----

// place_c4
// expected-error @+1 {{place_c4: argument 0 is #par.place<input tokens> and of type 'tensor<8xi32>', the runtime supplies rows and sequences of i32}}
func.func private @f(tensor<8xi32> {par.place = #par.place<input tokens>})

// -----

// expected-error @+1 {{place_c4: argument 0 is #par.place<input dropout_key> and of type 'tensor<3xi32>', the runtime supplies two words of i32}}
func.func private @f(tensor<3xi32> {par.place = #par.place<input dropout_key>})

// -----

// expected-error @+1 {{place_c4: argument 0 is #par.place<input lr> and of type 'tensor<bf16>', the runtime supplies a scalar of f32}}
func.func private @f(tensor<bf16> {par.place = #par.place<input lr>})

// -----

// expected-error @+1 {{place_c4: result 0 is #par.place<output loss> and of type 'tensor<4xf32>', the runtime reads f32 of rank 0; sum it up over the rows of the batch}}
func.func private @f() -> (tensor<4xf32> {par.place = #par.place<output loss>})

// -----

// place_c5
// expected-error @+1 {{place_c5: result 1 is a second #par.place<residual 0>; number them apart}}
func.func private @f() -> (tensor<4xf32> {par.place = #par.place<residual 0>}, tensor<4xf32> {par.place = #par.place<residual 0>})

// -----

// expected-error @+1 {{place_c5: argument 2 is a second #par.place<boundary 1>; number them apart}}
func.func private @f(tensor<4xf32> {par.place = #par.place<boundary 1>}, tensor<4xf32> {par.place = #par.place<residual 1>},
    tensor<4xf32> {par.place = #par.place<boundary 1>})

// -----

// place_c6
// expected-error @+1 {{place_c6: result 0 is alias 5, expected one of 1 arguments}}
func.func private @f(tensor<4xf32>) -> (tensor<4xf32> {par.place = #par.place<alias 5>})

// -----

// expected-error @+1 {{place_c6: result 0 of type 'tensor<2xf32>' is written over argument 1 of type 'tensor<3xf32>'}}
func.func private @f(tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32> {par.place = #par.place<alias 1>})

// -----

// expected-error @+1 {{place_c6: result 1 is written over argument 0, as another result is}}
func.func private @f(tensor<2xf32>) -> (tensor<2xf32> {par.place = #par.place<alias 0>}, tensor<2xf32> {par.place = #par.place<alias 0>})

// -----

// place_c2
// expected-error @+1 {{place_c2: result 0 is #par.place<constant 1 : i32>, which only an argument can be}}
func.func private @f() -> (tensor<i32> {par.place = #par.place<constant 1 : i32>})

// -----

// place_c7
// expected-error @+1 {{place_c7: argument 0 is #par.place<constant 1 : i32> and of type 'tensor<4xf32>', expected elements of the constant's type, i32 or f32}}
func.func private @f(tensor<4xf32> {par.place = #par.place<constant 1 : i32>})

// -----

// expected-error @+1 {{place_c7: argument 0 is #par.place<constant 1 : i64> and of type 'tensor<i64>', expected elements of the constant's type, i32 or f32}}
func.func private @f(tensor<i64> {par.place = #par.place<constant 1 : i64>})

// -----

// place_c8
// expected-error @+1 {{place_c8: only a loss and loss_weight have a name and a weight}}
func.func private @f(tensor<i32> {par.place = #par.place<input step "balance">})

// -----

// expected-error @+1 {{place_c8: only a loss and loss_weight have a name and a weight}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<output grad_norm, weight = 0.5>})

// -----

// expected-error @+1 {{place_c8: loss_weight of which loss? expected its name; the main one is "loss"}}
func.func private @f(tensor<f32> {par.place = #par.place<input loss_weight>})

// -----

// expected-error @+1 {{place_c8: "loss" is the main loss, which has no name}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<output loss "loss">})

// -----

// expected-error @+1 {{place_c8: a loss is named "a,b", expected letters, digits, "_" and "-"}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<output loss "a,b">})

// -----

// expected-error @+1 {{place_c8: weight INF, expected a finite number}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<output loss "a", weight = 1.0e999>})

// -----

// place_c9
// expected-error @+1 {{place_c9: result 1 is a second #par.place<output loss "a", weight = 5.000000e-01>; add both up, or name one of them}}
func.func private @f() -> (tensor<f32> {par.place = #par.place<output loss "a">}, tensor<f32> {par.place = #par.place<output loss "a", weight = 0.5>})

// -----

// Open inputs: their time
// expected-error @+1 {{unknown time "epoch", expected micro_batch or step}}
func.func private @f(tensor<4xf32> {par.place = #par.place<input "x", epoch>})

// -----

// place_c2
// expected-error @+1 {{place_c2: result 0 is #par.place<input "x", step>, which only an argument can be}}
func.func private @f() -> (tensor<4xf32> {par.place = #par.place<input "x", step>})

// -----

// place_c4: of a type that a reader fills
// expected-error @+1 {{place_c4: argument 0 is #par.place<input "x", step> and of type 'tensor<4xf64>', a reader fills tensors of f32, bf16, i32, i64 or i1}}
func.func private @f(tensor<4xf64> {par.place = #par.place<input "x", step>})

// -----

// expected-error @+1 {{place_c4: argument 0 is #par.place<input "x", micro_batch> and of type 'tensor<f32>', a reader fills tensors of f32, bf16, i32, i64 or i1, and "rows" such that have rows}}
func.func private @f(tensor<f32> {par.place = #par.place<input "x", micro_batch>})

// -----

// place_c10: a name of its own
// expected-error @+1 {{place_c10: input "tokens" is one that the runtime knows; write it without quotes}}
func.func private @f(tensor<2x8xi32> {par.place = #par.place<input "tokens", micro_batch>})

// -----

// expected-error @+1 {{place_c10: input "a=b" has no name that --input NAME=VALUE can give}}
func.func private @f(tensor<4xf32> {par.place = #par.place<input "a=b", step>})

// -----

// place_c10: a reader that serves inputs of its time
// expected-error @+1 {{place_c10: no reader "rows" serves inputs of a step, expected value}}
func.func private @f(tensor<4xf32> {par.place = #par.place<input "x", step, reader = "rows">})

// -----

// place_c11: everywhere the same
// expected-note @+1 {{the other function}}
func.func private @f(tensor<4xf32> {par.place = #par.place<input "x", step>})
// expected-error @+1 {{place_c11: argument 0 is #par.place<input "x", step> of type 'tensor<3xf32>', argument 0 of @f is #par.place<input "x", step> of type 'tensor<4xf32>'; one input has one type, time and reader}}
func.func private @g(tensor<3xf32> {par.place = #par.place<input "x", step>})

// -----

// expected-note @+1 {{the other function}}
func.func private @f(tensor<4xf32> {par.place = #par.place<input "x", step>})
// expected-error @+1 {{place_c11: argument 1 is #par.place<input "x", micro_batch> of type 'tensor<4xf32>', argument 0 of @f is #par.place<input "x", step> of type 'tensor<4xf32>'; one input has one type, time and reader}}
func.func private @g(tensor<f32>, tensor<4xf32> {par.place = #par.place<input "x", micro_batch>})
