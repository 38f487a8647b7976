//===- RankOps.td - what one rank executes, on buffers ------------------------------------------------------===//
#ifndef PAR_RANK_OPS
#define PAR_RANK_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rank_Dialect : Dialect {
  let name = "rank";
  let cppNamespace = "::mlir::par::rank";
  let summary = "Programs of ranks: buffers, kernels, calls into the runtime, and the schedule of a step";
  let description = [{
    No tensors flow between ops: buffers are ranges of bytes, first without and, after `rank-plan-memory`, with offsets. What a kernel, GEMM, attention or
    collective means is the `par` region it keeps, on tensors read from its inputs and written to its outputs; so a program can be interpreted over bytes without
    code generation. One `rank.func` per distinct function; one `rank.schedule` per program.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Rank_Category : I32EnumAttr<"Category", "what memory is for (manifest, `arena_bytes`)", [
  I32EnumAttrCase<"Parameters", 0, "parameters">, I32EnumAttrCase<"Gradients", 1, "gradients">,
  I32EnumAttrCase<"Optimizer", 2, "optimizer">, I32EnumAttrCase<"Activations", 3, "activations">,
  I32EnumAttrCase<"Communication", 4, "communication">, I32EnumAttrCase<"Workspace", 5, "workspace">]> {
  let cppNamespace = "::mlir::par::rank";
  let genSpecializedAttr = 0;
}
def Rank_CategoryAttr : EnumAttr<Rank_Dialect, Rank_Category, "category"> { let assemblyFormat = "$value"; }

def Rank_SlotKind : I32EnumAttr<"SlotKind", "what a slot of the arena holds", [
  I32EnumAttrCase<"Variable", 0, "variable">, I32EnumAttrCase<"Input", 1, "input">, I32EnumAttrCase<"Constant", 2, "constant">,
  I32EnumAttrCase<"Output", 3, "output">, I32EnumAttrCase<"Residual", 4, "residual">, I32EnumAttrCase<"Frame", 5, "frame">]> {
  let cppNamespace = "::mlir::par::rank";
  let genSpecializedAttr = 0;
}
def Rank_SlotKindAttr : EnumAttr<Rank_Dialect, Rank_SlotKind, "slot_kind"> { let assemblyFormat = "$value"; }

def Rank_BufferType : TypeDef<Rank_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of bytes of the arena";
  let description = [{ **Constraints:** (buffer_c1) the number of bytes is not negative. }];
  let genVerifyDecl = 1;
  let parameters = (ins "int64_t":$bytes);
  let assemblyFormat = "`<` $bytes `>`";
}

def Rank_EventType : TypeDef<Rank_Dialect, "Event"> {
  let mnemonic = "event";
  let summary = "the end of what was started";
}

class Rank_Op<string mnemonic, list<Trait> traits = []> : Op<Rank_Dialect, mnemonic, traits>;

def Rank_FuncOp : Rank_Op<"func", [Symbol, FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "one function on buffers: arguments, then results as out-parameters";
  let description = [{
    ```mlir
    rank.func @block(%x: !rank.buffer<65536>, %w: !rank.buffer<1024>, %y: !rank.buffer<65536>) attributes {frame = 4096 : i64, results = 1 : i64} { … rank.return }
    ```
    `frame` = bytes of its local buffers, laid out by `rank-plan-memory`; the last `results` arguments are written.

    **Constraints:** (func_c1) `results` is not negative and no more than the arguments; (func_c2) `frame` is not negative.
  }];
  let hasVerifier = 1;
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, I64Attr:$results, OptionalAttr<I64Attr>:$frame,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Rank_ReturnOp : Rank_Op<"return", [Terminator, Pure]> {
  let summary = "end of a rank.func or rank.schedule";
  let assemblyFormat = "attr-dict";
}

def Rank_AllocOp : Rank_Op<"alloc", [Pure]> {
  let summary = "a local buffer of the function's frame";
  let description = [{
    ```mlir
    %h = rank.alloc activations {offset = 0 : i64} : !rank.buffer<4096>
    ```
    With `host` it is in the rank's other arena, at that offset of it: frames are of the device. Only functions that actions call have such buffers, so that one function's are
    live at a time.

    **Constraints:** (alloc_c1) an offset is not negative, and the buffer, without `host`, ends within the function's frame.
  }];
  let hasVerifier = 1;
  let arguments = (ins Rank_CategoryAttr:$category, OptionalAttr<I64Attr>:$offset, UnitAttr:$host);
  let results = (outs Rank_BufferType:$buffer);
  let builders = [OpBuilder<(ins "BufferType":$type, "Category":$category), [{
    build($_builder, $_state, type, CategoryAttr::get($_builder.getContext(), category), IntegerAttr(), UnitAttr());
  }]>];
  let assemblyFormat = "$category attr-dict `:` type($buffer)";
}

/// An op whose meaning is a region on tensors.
def Rank_WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::mlir::par::rank";
  let description = [{ Reads tensors from `ins`, evaluates its region, writes what it yields to `outs`. }];
  let methods = [
    InterfaceMethod<"", "::mlir::OperandRange", "getIns">,
    InterfaceMethod<"", "::mlir::OperandRange", "getOuts">,
    InterfaceMethod<"Memory that the op may use and that means nothing after it.", "::mlir::OperandRange", "getScratch">,
    InterfaceMethod<"", "::mlir::Region &", "getBody">,
  ];
}

/// **Constraints:** (work_c1) as many block arguments as ins and yields as outs; (work_c2) tensor and buffer have equal bytes.
class Rank_WorkOp<string mnemonic> : Rank_Op<mnemonic, [AttrSizedOperandSegments, SingleBlock, IsolatedFromAbove,
    DeclareOpInterfaceMethods<Rank_WorkOpInterface>]> {
  let arguments = (ins Variadic<Rank_BufferType>:$ins, Variadic<Rank_BufferType>:$outs, Variadic<Rank_BufferType>:$scratch);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `ins` `(` ($ins^ `:` type($ins))? `)` `outs` `(` ($outs^ `:` type($outs))? `)` (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    attr-dict-with-keyword $body
  }];
}

def Rank_KernelOp : Rank_WorkOp<"kernel"> {
  let summary = "a fused kernel, generated from its region";
  let description = [{
    ```mlir
    rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) { ^bb0(%a: tensor<16xf32>): %0 = math.tanh %a : tensor<16xf32> rank.yield %0 : tensor<16xf32> }
    ```
  }];
}
def Rank_GemmOp : Rank_WorkOp<"gemm"> {
  let summary = "matrix products by the runtime; the region holds a par.einsum, or several that were joined, and what is added to each";
}
def Rank_AttentionOp : Rank_WorkOp<"attention"> {
  let summary = "attention by the runtime; the region holds one par.attention or par.attention_backward";
}
def Rank_CollectiveOp : Rank_WorkOp<"collective"> {
  let summary = "a collective by the transport; the region holds one par collective";
}

def Rank_StartOp : Rank_Op<"start", [AttrSizedOperandSegments, SingleBlock, IsolatedFromAbove,
    DeclareOpInterfaceMethods<Rank_WorkOpInterface>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "begins a collective or a copy between memories; the region holds one par collective or transfer";
  let description = [{
    ```mlir
    %e = rank.start ins(%w : !rank.buffer<512>) outs(%g : !rank.buffer<1024>) { … par.all_gather … }
    rank.call @layer frame %f (…) : …              // meanwhile
    rank.wait %e
    ```
    Started collectives and blocking ones (`rank.collective`) of a rank run one after the other, in the order of the program; so do started copies, in a queue of their own. Between start and wait the buffers belong to the
    transport; what lies in `outs` means nothing before the wait.

    **Constraints:** (start_c1) the event is used by one rank.wait of the same block and by nothing else; (start_c2) until then no op uses `outs`, and none writes `ins`;
    (start_c3) the region holds one collective, or transfer, and its yield. (work_c1), (work_c2).
  }];
  let arguments = (ins Variadic<Rank_BufferType>:$ins, Variadic<Rank_BufferType>:$outs, Variadic<Rank_BufferType>:$scratch);
  let results = (outs Rank_EventType:$event);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `ins` `(` ($ins^ `:` type($ins))? `)` `outs` `(` ($outs^ `:` type($outs))? `)` (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// The op behind which the results are there; null before the op is verified.
    WaitOp getWait();
  }];
}

def Rank_WaitOp : Rank_Op<"wait"> {
  let summary = "blocks until what was started has ended";
  let description = [{ See `rank.start`, which creates the event. **Constraints:** (wait_c1) the event is the result of a rank.start of the same block. }];
  let arguments = (ins Rank_EventType:$event);
  let assemblyFormat = "$event attr-dict";
  let hasVerifier = 1;
}

def Rank_YieldOp : Rank_Op<"yield", [Terminator, Pure]> {
  let summary = "the tensors that an op writes to its outs";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Rank_CopyOp : Rank_Op<"copy"> {
  let summary = "copies a buffer";
  let description = [{ **Constraints:** (copy_c1) equal bytes. }];
  let arguments = (ins Rank_BufferType:$source, Rank_BufferType:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Rank_CallOp : Rank_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a rank.func; `frame` is the memory of its local buffers (and of its callees')";
  let description = [{
    ```mlir
    rank.call @block frame %f (%x, %w, %y) : !rank.buffer<4096>, !rank.buffer<64>, !rank.buffer<64>, !rank.buffer<64>
    ```
    With `parts = n` it is called n times, one call after the other, in the same frame. A buffer of n times the bytes of the argument is n parts, of which every call gets the next one; a buffer of the
    argument's bytes is the same one in every call.

    **Constraints:** (call_c1) the callee is a rank.func; (call_c2) the buffers have the types of its arguments, or `parts` times their bytes; (call_c3) `frame` holds its frame, once that is planned;
    (call_c4) `parts` is at least 1.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Rank_BufferType:$frame, Variadic<Rank_BufferType>:$buffers, DefaultValuedAttr<I64Attr, "1">:$parts);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// By how many bytes the buffer that is operand `number` of the callee moves on from call to call.
    int64_t getStride(unsigned number, FuncOp callee);
  }];
  let assemblyFormat = "$callee `frame` $frame `(` $buffers `)` attr-dict `:` type(operands)";
}

def Rank_ScheduleOp : Rank_Op<"schedule", [IsolatedFromAbove, SingleBlock]> {
  let summary = "the actions of one step of a program, and the slots of its arena";
  let description = [{
    Schedules have names of their own and are no symbols: `@eval` may be a schedule and a function.

    ```mlir
    rank.schedule @train {peak_bytes = 4096 : i64} {
      %w = rank.slot variable "wte" parameters {offset = 0 : i64} : !rank.buffer<1024>
      rank.action "forward" @forward frame %f (%w) {chunk = 0 : i64, micro_batch = 0 : i64} : !rank.buffer<64>, !rank.buffer<1024>
      rank.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, OptionalAttr<I64Attr>:$peak_bytes, OptionalAttr<DictionaryAttr>:$arena_bytes,
                       OptionalAttr<I64Attr>:$lower_bound, OptionalAttr<I64Attr>:$host_peak_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name attr-dict-with-keyword $body";
}

def Rank_SlotOp : Rank_Op<"slot", [Pure]> {
  let hasVerifier = 1;
  let summary = "memory of the arena that the runtime or several actions know";
  let description = [{
    Variables, inputs (one slot per micro-batch if `micro_batch` ≥ 0), constants (with `value`), outputs, residuals of a micro-batch, and the frame of the
    actions. `tensor` is the local tensor type. A slot with `host` lies in the rank's other arena, in host memory, at its offset there.

    **Constraints:** (slot_c1) all but frames have a `tensor`, of as many bytes as the buffer; (slot_c2) constants have a `value`;
    (slot_c3) an offset is not negative; (slot_c4) only variables have `host`.
  }];
  let arguments = (ins Rank_SlotKindAttr:$kind, StrAttr:$name, Rank_CategoryAttr:$category, OptionalAttr<TypeAttr>:$tensor,
                       DefaultValuedAttr<I64Attr, "-1">:$micro_batch, OptionalAttr<TypedAttrInterface>:$value, OptionalAttr<I64Attr>:$offset, UnitAttr:$host);
  let results = (outs Rank_BufferType:$buffer);
  let assemblyFormat = "$kind $name $category attr-dict `:` type($buffer)";
}

def Rank_ActionOp : Rank_Op<"action", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one entry of the schedule: runs a function";
  let description = [{
    **Constraints:** (action_c1) the callee is a rank.func; (action_c2) the buffers have the types of its arguments; (action_c3) `frame` holds its frame, once that is
    planned; (action_c4) frame and buffers are slots of the schedule.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$callee, Rank_BufferType:$frame, Variadic<Rank_BufferType>:$buffers, I64Attr:$chunk,
                       I64Attr:$micro_batch);
  let assemblyFormat = "$name $callee `frame` $frame `(` $buffers `)` attr-dict `:` type(operands)";
}

#endif // PAR_RANK_OPS
