//===- PlaceAttributes.td - what chunk functions, their arguments and their results are ---------------------===//
// In a file of its own: what includes Places.h is built again when it changes, and nothing else.
#ifndef PAR_PLACE_ATTRIBUTES
#define PAR_PLACE_ATTRIBUTES

include "par/Dialect/Par/IR/ParAttrBase.td"

def Par_Phase : Par_Enum<"Phase", "what a chunk function does in a step", Par_PhaseCases>;

def Par_PhaseAttr : Par_Attr<"Phase", "phase"> {
  let summary = "What a chunk function does in a step, of which chunk of the model, and on which stage";
  let description = [{
    `par.phase = #par.phase<forward, chunk = 0>` on a function. A chunk is the part of the model between two places
    where it is cut (par-cut-pipeline); a model that is not cut is chunk 0. `stage = 1` says which coordinate of the
    pipeline runs the chunk; stage 0 is not printed. A function without a phase is a layer, which others call.

    **Constraints:**
    - (phase_c1) a chunk has one function of a phase (checked at functions of which an argument or result has a place)
    - (phase_c2) chunks are numbered from 0, and stages
    - (phase_c3) all functions of a chunk are of one stage (checked where phase_c1 is)
  }];
  let parameters = (ins EnumParameter<Par_Phase>:$phase, DefaultValuedParameter<"int64_t", "0">:$chunk,
                        DefaultValuedParameter<"int64_t", "0">:$stage);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Par_PlaceAttr : Par_Attr<"Place", "place"> {
  let summary = "Where an argument comes from, or a result goes to";
  let description = [{
    `par.place` on an argument or result, one of

    | place | of | is |
    |---|---|---|
    | `#par.place<variable @w>` | argument, result | the variable: read, or updated in place |
    | `#par.place<input tokens>` | argument | what the runtime supplies (runtime/include/par/Inputs.def) |
    | `#par.place<input "x", micro_batch>` | argument | an open input: a name and a type of the graph's own, see below |
    | `#par.place<output loss>` | result | what the runtime reads; also `<variable @grad_norm, output grad_norm>` |
    | `#par.place<output loss "balance", weight = 0.01>` | result | a further loss, and its weight in the gradient |
    | `#par.place<input loss_weight "balance">` | argument | the weight of that loss; of the main one: `"loss"` |
    | `#par.place<residual 3>` | result of forward, argument of backward | value 3 saved for this micro-batch |
    | `#par.place<boundary 0>` | argument, result | value number 0 that crosses a cut, see below |
    | `#par.place<alias 5>` | result | it is written over argument 5, which the caller gives up |
    | `#par.place<constant 0 : i32, step = 1>` | argument | what no step changes: 0, 1, 2, … |

    An open input is supplied for each `micro_batch` or for each `step`. Who fills it is a reader of the runtime, by
    default `rows` for micro-batches (row r of a file's tensor of that name goes where window r of tokens goes) and
    `value` for steps. `reader = "name"` behind the time names another one of Inputs.def.

    Values that cross a cut are numbered from 0, cut by cut. In functions of forward and of evaluations an argument
    with `boundary 0` is what the chunk before this one returns with `boundary 0`. In backward functions it is the
    cotangent of this chunk's own boundary 0, from the chunk behind, and a result is that of the boundary 0 that the
    chunk received.

    **Constraints:**
    - (place_c1) it is one place, whose number is not negative
    - (place_c2) inputs and constants are arguments, outputs and aliases are results
    - (place_c3) the variable exists and has the argument's or result's global type, or its type where that is not
      local
    - (place_c4) an input has the rank and the elements that the runtime writes, an output those that it reads; an open
      input is a tensor of f32, bf16, i32, i64 or i1, which has rows where the reader is `rows`
    - (place_c5) an argument list or result list has a residual or boundary of one number once
    - (place_c6) an alias is an argument's number, of the same type, and no other result's alias
    - (place_c7) a constant has the argument's elements, i32 or f32; element i is the constant + step · i
    - (place_c8) only a loss and its weight have a name and a weight; a name consists of letters, digits, `_` and `-`, a
      weight is finite; `loss` is the main loss, which has no name as an output
    - (place_c9) no two results are one loss
    - (place_c10) an open input has a name that is not one of Inputs.def, and a reader that serves inputs of its time
    - (place_c11) all arguments that are one open input have one global type, time and reader
  }];
  let parameters = (ins OptionalParameter<"::mlir::FlatSymbolRefAttr">:$variable,
                        OptionalParameter<"std::optional<::mlir::par::InputKind>">:$input,
                        OptionalParameter<"std::optional<::mlir::par::OutputKind>">:$output,
                        OptionalParameter<"std::optional<int64_t>">:$residual,
                        OptionalParameter<"std::optional<int64_t>">:$boundary,
                        OptionalParameter<"std::optional<int64_t>">:$alias,
                        OptionalParameter<"::mlir::TypedAttr">:$constant, DefaultValuedParameter<"int64_t", "0">:$step,
                        OptionalParameter<"::mlir::StringAttr">:$loss, OptionalParameter<"::mlir::FloatAttr">:$weight,
                        OptionalParameter<"::mlir::StringAttr">:$openInput,
                        OptionalParameter<"std::optional<::mlir::par::InputTime>">:$openTime,
                        OptionalParameter<"::mlir::StringAttr">:$openReader);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the runtime supplies it: an input of Inputs.def or an open one.
    bool isInput() const;
    /// The name of an input; it is empty where the place is none.
    ::llvm::StringRef getInputName() const;
    ::mlir::par::InputTime getInputTime() const;
    /// The reader of an open input: the one that is named, or the first that serves inputs of its time.
    ::llvm::StringRef getInputReader() const;

    static PlaceAttr ofVariable(::mlir::FlatSymbolRefAttr variable, std::optional<OutputKind> output = {});
    static PlaceAttr ofInput(::mlir::MLIRContext *context, InputKind input);
    static PlaceAttr ofOutput(::mlir::MLIRContext *context, OutputKind output);
    static PlaceAttr ofResidual(::mlir::MLIRContext *context, int64_t number);
    static PlaceAttr ofBoundary(::mlir::MLIRContext *context, int64_t number);
    static PlaceAttr ofAlias(::mlir::MLIRContext *context, int64_t argument);
    /// The place of a loss: of the main one if `loss` is null.
    static PlaceAttr ofLoss(::mlir::MLIRContext *context, ::mlir::StringAttr loss, ::mlir::FloatAttr weight = {});
    /// The place of the weight of the loss that `loss` is the place of.
    static PlaceAttr ofLossWeight(PlaceAttr loss);
    static PlaceAttr ofConstant(::mlir::TypedAttr constant, int64_t step = 0);

    /// The name of an input or output in a manifest: "tokens", "loss.balance".
    std::string getRuntimeName() const;
  }];
}

#endif // PAR_PLACE_ATTRIBUTES
