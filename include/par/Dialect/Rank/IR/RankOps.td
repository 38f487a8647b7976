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
    No tensors flow between ops: buffers are ranges of bytes, first without and, after `rank-plan-memory`, with
    offsets. What a kernel, GEMM, attention or collective means is the `par` region it keeps, on tensors read from its
    inputs and written to its outputs; so a program can be interpreted over bytes without code generation. One
    `rank.func` per distinct function; one `rank.schedule` per program.
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
  I32EnumAttrCase<"Variable", 0, "variable">, I32EnumAttrCase<"Input", 1, "input">, I32EnumAttrCase<"Constant", 2,
      "constant">,
  I32EnumAttrCase<"Output", 3, "output">, I32EnumAttrCase<"Residual", 4, "residual">, I32EnumAttrCase<"Frame", 5,
      "frame">]> {
  let cppNamespace = "::mlir::par::rank";
  let genSpecializedAttr = 0;
}
def Rank_SlotKindAttr : EnumAttr<Rank_Dialect, Rank_SlotKind, "slot_kind"> { let assemblyFormat = "$value"; }

def Rank_Purpose : I32EnumAttr<"Purpose", "what a schedule runs the model for", [
  I32EnumAttrCase<"Train", 0, "train">, I32EnumAttrCase<"Eval", 1, "eval">, I32EnumAttrCase<"Logits", 2, "logits">]> {
  let cppNamespace = "::mlir::par::rank";
  let genSpecializedAttr = 0;
}
def Rank_PurposeAttr : EnumAttr<Rank_Dialect, Rank_Purpose, "purpose"> { let assemblyFormat = "$value"; }

// The enum is par/Schedule/ActionKind.td's, below the dialect.
def Rank_ActionKindAttr : AttrDef<Rank_Dialect, "ActionKind"> {
  let mnemonic = "action_kind";
  let parameters = (ins "::mlir::par::ActionKind":$value);
  let returnType = "::mlir::par::ActionKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::mlir::par::rank::ActionKindAttr::get($_builder.getContext(), $0)";
  let assemblyFormat = "$value";
}

def Rank_Space : I32EnumAttr<"Space", "the memory that a buffer lies in", [
  I32EnumAttrCase<"Device", 0, "device">, I32EnumAttrCase<"Pinned", 1, "pinned">, I32EnumAttrCase<"Host", 2,
      "host">]> {
  let cppNamespace = "::mlir::par::rank";
  let genSpecializedAttr = 0;
}

def Rank_BufferType : TypeDef<Rank_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of bytes of a rank's memory";
  let description = [{
    `!rank.buffer<4096>` is of the device's arena, `!rank.buffer<4096, pinned>` of the arena in host memory that
    devices copy from and to (state that is offloaded), `!rank.buffer<4096, host>` of memory that only the host
    reaches.

    **Constraints:** (rank_buffer_c1) the number of bytes is not negative.
  }];
  let genVerifyDecl = 1;
  let parameters = (ins "int64_t":$bytes, EnumParameter<Rank_Space>:$space);
  let builders = [TypeBuilder<(ins "int64_t":$bytes, CArg<"Space", "Space::Device">:$space), [{ return $_get($_ctxt,
      bytes, space); }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
}

def Rank_EventType : TypeDef<Rank_Dialect, "Event"> {
  let mnemonic = "event";
  let summary = "the end of what was started";
}

class Rank_Op<string mnemonic, list<Trait> traits = []> : Op<Rank_Dialect, mnemonic, traits>;

def Rank_AccessOpInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::mlir::par::rank";
  let description = [{
    What an op does to the memory that it is given: effects, lifetimes and the verification of programs follow from
    it.
  }];
  let methods = [
    InterfaceMethod<"By operand, reads first. What is started accesses its buffers up to its wait.",
        "::llvm::SmallVector<::mlir::par::rank::Access>", "getAccesses">,
  ];
}

/// An op that reads and writes buffers that others own; its memory effects are its accesses.
class Rank_AccessOp<string mnemonic, list<Trait> traits = []> : Rank_Op<mnemonic, traits # [
    DeclareOpInterfaceMethods<Rank_AccessOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  code effects = [{
    void $cppClass::getEffects(::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      addEffects(getAccesses(), effects);
    }
  }];
  let extraClassDefinition = effects;
}

def Rank_EntryOpInterface : OpInterface<"EntryOpInterface"> {
  let cppNamespace = "::mlir::par::rank";
  let description = [{ An entry of a schedule's list. }];
  let methods = [InterfaceMethod<"", "::mlir::par::Action", "getAction">];
}

def Rank_FuncOp : Rank_Op<"func", [Symbol, FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "one function on buffers: arguments, then results as out-parameters";
  let description = [{
    ```mlir
    rank.func @block(%x: !rank.buffer<65536>, %w: !rank.buffer<1024>, %y: !rank.buffer<65536>)
        attributes {frame = 4096 : i64, results = 1 : i64} { … rank.return }
    ```
    `frame` = bytes of its local buffers, laid out by `rank-plan-memory`; the last `results` arguments are written.
    `overwrites` has the number of the argument that each result takes the place of, which callers must give the same
    buffer for both; -1 for results with memory of their own. All other arguments are as they were when the function
    returns.

    Values have numbers (docs/IR.md): the arguments 0, 1, …, then whatever the function computes. The op that writes a
    value and those that read it say its number, so that a program can be checked against what it was made of
    (`rank-verify-program`).

    **Constraints:** (rank_func_c1) `results` is not negative and no more than the arguments; (rank_func_c2) `frame`
    is not negative; (rank_func_c3) `overwrites` has for each result -1 or an argument that is no result, of the
    result's type.
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, I64Attr:$results,
      OptionalAttr<I64Attr>:$frame,
                       OptionalAttr<DenseI64ArrayAttr>:$overwrites, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The argument in whose place a result is; nothing where it has memory of its own.
    std::optional<unsigned> getOverwritten(unsigned result);
  }];
}

def Rank_ReturnOp : Rank_Op<"return", [Terminator, Pure]> {
  let summary = "end of a rank.func or rank.schedule";
  let description = [{
    `values` has the numbers of the values that the results of the function, or the slots of the schedule, hold now;
    -1 for slots that mean nothing any more.
  }];
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$values);
  let assemblyFormat = "attr-dict";
}

def Rank_AllocOp : Rank_Op<"alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a local buffer of the function";
  let description = [{
    ```mlir
    %h = rank.alloc activations {offset = 0 : i64} : !rank.buffer<4096>
    ```
    It holds nothing until it is written, and its memory is its own up to its last use. `offset` is one in the
    function's frame; that of a `pinned` buffer, in the rank's other arena, as frames are of the device. Only
    functions that actions call have such buffers, so that one function's are live at a time.

    **Constraints:** (rank_alloc_c1) an offset is not negative, and a buffer of the device ends within the function's
    frame; (rank_alloc_c2) the buffer is of the device or pinned: a rank has no arena of other memory.
  }];
  let hasVerifier = 1;
  let arguments = (ins Rank_CategoryAttr:$category, OptionalAttr<I64Attr>:$offset);
  let results = (outs Rank_BufferType:$buffer);
  let builders = [OpBuilder<(ins "BufferType":$type, "Category":$category), [{
    build($_builder, $_state, type, CategoryAttr::get($_builder.getContext(), category), IntegerAttr());
  }]>];
  let assemblyFormat = "$category attr-dict `:` type($buffer)";
}

def Rank_Epilogue : I32EnumAttr<"Epilogue", "what a library computes beside a product, in the same call", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Bias", 1, "bias">, I32EnumAttrCase<"BiasGelu", 2, "bias_gelu">,
  I32EnumAttrCase<"BiasGeluAux", 3, "bias_gelu_aux">, I32EnumAttrCase<"GeluGradient", 4, "gelu_gradient">,
  I32EnumAttrCase<"SumsOfA", 5, "sums_a">, I32EnumAttrCase<"SumsOfB", 6, "sums_b">]> {
  let cppNamespace = "::mlir::par::rank";
  let genSpecializedAttr = 0;
}
def Rank_EpilogueParameter : EnumParameter<Rank_Epilogue> {
  let defaultValue = "::mlir::par::rank::Epilogue::None";
}

def Rank_ProductAttr : AttrDef<Rank_Dialect, "Product"> {
  let mnemonic = "product";
  let summary = "one matrix product of a rank.gemm, as a library takes it";
  let description = [{
    c[i] = op(a[i]) · op(b[i]) + beta · scale · addend[i] for i < `batch`; `op` transposes if `transpose_a` or
    `transpose_b`. `a`, `b`, `addend` and `scale` are numbers of inputs, `c` is that of an output. C has `m` rows and
    `n` columns, `k` terms are summed. Leading dimensions, and strides from matrix to matrix of a batch, are in
    elements. a and b have elements of the type `from`, c and the addend of `to`.

    `beta` is 0 where nothing is added. Without `addend` it is what lies in `c`, the products before this one; without
    `scale` it is added as it is.

    `epilogue` is what the same call computes of the product, in f32 and rounded once:

    - `bias`: `vector`, an input of `n` elements, is added to each row of c.
    - `bias_gelu`: then c is GELU (tanh) of that. `bias_gelu_aux`: `aux`, an output as large as c, is that.
    - `gelu_gradient`: c is the product times GELU's derivative at `aux`, an input as large as c.
    - `sums_a`, `sums_b`: `vector`, an output, has the sums over k of each row of op(a), or column of op(b).
  }];
  let parameters = (ins "int64_t":$a, "int64_t":$b, "int64_t":$c, "::mlir::Type":$from, "::mlir::Type":$to,
      "int64_t":$m, "int64_t":$n, "int64_t":$k, DefaultValuedParameter<"int64_t", "1">:$batch,
      DefaultValuedParameter<"bool", "false">:$transpose_a, DefaultValuedParameter<"bool", "false">:$transpose_b,
      "int64_t":$lda, "int64_t":$ldb, "int64_t":$ldc, DefaultValuedParameter<"int64_t", "1">:$stride_a,
      DefaultValuedParameter<"int64_t", "1">:$stride_b, DefaultValuedParameter<"int64_t", "1">:$stride_c,
      DefaultValuedParameter<"int64_t", "0">:$beta, DefaultValuedParameter<"int64_t", "-1">:$addend,
      DefaultValuedParameter<"int64_t", "-1">:$scale, Rank_EpilogueParameter:$epilogue,
      DefaultValuedParameter<"int64_t", "-1">:$vector, DefaultValuedParameter<"int64_t", "-1">:$aux);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Rank_RowsAttr : AttrDef<Rank_Dialect, "Rows"> {
  let mnemonic = "rows";
  let summary = "rows that lie in a buffer: from element `offset` on, one every `stride` elements";
  let description = [{ `buffer` is the number of an input, or of an output for what is written. }];
  let parameters = (ins "int64_t":$buffer, DefaultValuedParameter<"int64_t", "0">:$offset, "int64_t":$stride);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Rank_AttentionAttr : AttrDef<Rank_Dialect, "Attention"> {
  let mnemonic = "attention";
  let summary = "sizes of an attention and where its rows lie";
  let description = [{
    Queries, keys and values, and in a backward pass their gradients, may be parts of the rows of a joint tensor.
  }];
  let parameters = (ins "::mlir::Type":$type, "int64_t":$batch, "int64_t":$q_rows, "int64_t":$k_rows,
      "int64_t":$kv_heads, "int64_t":$group, "int64_t":$head_dim, "int64_t":$value_dim, "RowsAttr":$q,
      "RowsAttr":$k, "RowsAttr":$v, OptionalParameter<"RowsAttr">:$dq, OptionalParameter<"RowsAttr">:$dk,
      OptionalParameter<"RowsAttr">:$dv);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Rank_LibraryAttr : AttrDef<Rank_Dialect, "Library"> {
  let mnemonic = "library";
  let summary = "where a library's op finds those operands and results that may be rows of joint tensors";
  let description = [{
    A `#rank.rows` for each of them, in their order. All else is said by the op in the region.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$operands, "::mlir::ArrayAttr":$results);
  let assemblyFormat = "`<` struct(params) `>`";
}

/// An op whose meaning is a region on tensors.
def Rank_WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::mlir::par::rank";
  let description = [{ Reads tensors from `ins`, evaluates its region, writes what it yields to `outs`. }];
  let methods = [
    InterfaceMethod<"", "::mlir::OperandRange", "getIns">,
    InterfaceMethod<"", "::mlir::OperandRange", "getOuts">,
    InterfaceMethod<"Memory that the op may use and that means nothing after it.", "::mlir::OperandRange",
        "getScratch">,
    InterfaceMethod<"", "::mlir::MutableOperandRange", "getScratchMutable">,
    InterfaceMethod<"", "::mlir::Region &", "getBody">,
    InterfaceMethod<"", "::std::optional<::llvm::ArrayRef<int64_t>>", "getReads">,
    InterfaceMethod<"", "::std::optional<::llvm::ArrayRef<int64_t>>", "getWrites">,
  ];
}

/// `work` and `number` (rank-number-work) are the op's places in the manifest's lists of work and of collectives.
/// `reads` and `writes` are numbers of values, as many as ins and outs.
///
/// **Constraints:** (rank_work_c1) as many block arguments as ins and yields as outs; (rank_work_c2) tensor and
/// buffer have equal bytes; (rank_work_c3) `reads` has a number per input, `writes` one per output; (rank_work_c4)
/// all buffers lie in one memory, but those of a started transfer.
class Rank_WorkOp<string mnemonic, dag structure = (ins), list<Trait> traits = []> : Rank_AccessOp<mnemonic,
    [AttrSizedOperandSegments, SingleBlock, IsolatedFromAbove, DeclareOpInterfaceMethods<Rank_WorkOpInterface>]
    # traits> {
  let arguments = !con((ins Variadic<Rank_BufferType>:$ins, Variadic<Rank_BufferType>:$outs,
      Variadic<Rank_BufferType>:$scratch,
                       OptionalAttr<DenseI64ArrayAttr>:$reads, OptionalAttr<DenseI64ArrayAttr>:$writes,
                       OptionalAttr<I64Attr>:$work, OptionalAttr<I64Attr>:$number), structure);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  code work = effects # [{
    ::llvm::SmallVector<::mlir::par::rank::Access> $cppClass::getAccesses() { return getWorkAccesses(*this); }
  }];
  let extraClassDefinition = work;
  let assemblyFormat = [{
    `ins` `(` ($ins^ `:` type($ins))? `)` `outs` `(` ($outs^ `:` type($outs))? `)`
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    attr-dict-with-keyword $body
  }];
}

def Rank_KernelOp : Rank_WorkOp<"kernel"> {
  let summary = "a fused kernel, generated from its region";
  let description = [{
    ```mlir
    rank.kernel ins(%x : !rank.buffer<64>) outs(%y : !rank.buffer<64>) {
    ^bb0(%a: tensor<16xf32>):
      %0 = math.tanh %a : tensor<16xf32>
      rank.yield %0 : tensor<16xf32>
    }
    ```
  }];
}
def Rank_GemmOp : Rank_WorkOp<"gemm", (ins TypedArrayAttrBase<Rank_ProductAttr, "products">:$products)> {
  let summary = "matrix products by the runtime; the region holds a par.einsum, or joined ones, and what they add to";
  let description = [{
    ```mlir
    rank.gemm ins(%x, %w : …) outs(%y : …) attributes {products = [#rank.product<a = 0, b = 1, c = 0, from = f32,
        to = f32, m = 8, n = 4, k = 4, transpose_b = true, lda = 4, ldb = 4, ldc = 4>]} { … par.einsum "ik,jk->ij" … }
    ```
    Several products are one call of the runtime. **Constraints:** (rank_gemm_c1) the region holds nothing but matrix
    products, each of two inputs, which begin with nothing, an input, an input times a scalar, or with products before
    them, and of which all or one are of f32 and single, and one product alone with an epilogue; (rank_gemm_c2)
    `products` has one entry per product; (rank_gemm_c3) each says what the region computes.
  }];
}

def Rank_LibraryWorkInterface : OpInterface<"LibraryWorkInterface", [Rank_WorkOpInterface]> {
  let cppNamespace = "::mlir::par::rank";
  let description = [{
    Work that a library, or a function that is written by hand, computes as a whole. The region holds one op of
    par::LibraryOpInterface, and what tells in the rows of which buffers its operands and results lie.
  }];
  let methods = [
    InterfaceMethod<"Of what code is made; null where nobody has said it yet.", "::mlir::Attribute", "getDescription">,
    InterfaceMethod<"", "void", "setDescription", (ins "::mlir::Attribute":$description)>,
    InterfaceMethod<"The description of what the region computes; null where no call does.", "::mlir::Attribute",
        "describe">,
    InterfaceMethod<"What the region has to be for that, for people.", "::llvm::StringRef", "getRequirement">,
    InterfaceMethod<"What is computed; null where the region holds no such op.", "::mlir::par::LibraryOpInterface",
        "getContent", (ins), "", [{ return findLibraryOp($_op.getBody().front()); }]>,
  ];
}

class Rank_LibraryWork<string mnemonic, dag structure> : Rank_WorkOp<mnemonic, structure,
    [DeclareOpInterfaceMethods<Rank_LibraryWorkInterface>]> {
  let extraClassDefinition = work # [{
    ::mlir::Attribute $cppClass::getDescription() { return getStructureAttr(); }
    void $cppClass::setDescription(::mlir::Attribute description) {
      setStructureAttr(::llvm::cast<decltype(getStructureAttr())>(description));
    }
  }];
}

def Rank_LibraryOp : Rank_LibraryWork<"library", (ins Rank_LibraryAttr:$structure)> {
  let summary = "an op that a library computes, in the region";
  let description = [{
    ```mlir
    rank.library ins(%x : …) outs(%y : …) attributes {structure = #rank.library<operands = [#rank.rows<buffer = 0,
        offset = 4, stride = 12>], results = []>} { … par.slice …, and an op of the class Library … }
    ```
    An op whose calls want more than that has an op of its own here, as attention has. **Constraints:**
    (rank_library_c1) the region holds one op of a library without an op for itself, whose operands are inputs and whose
    results are outputs, or rows of them where it takes rows; (rank_library_c2) `structure` says where those lie.
  }];
}
def Rank_AttentionOp : Rank_LibraryWork<"attention", (ins Rank_AttentionAttr:$structure)> {
  let summary = "attention by the runtime; the region holds one par.attention or par.attention_backward";
  let description = [{
    **Constraints:** (rank_attention_c1) the region holds an attention in one type, f32 or bf16, whose rows lie
    in inputs and outputs; (rank_attention_c2) `structure` says what the region computes.
  }];
}
def Rank_CollectiveOp : Rank_WorkOp<"collective"> {
  let summary = "a collective by the transport; the region holds one par collective";
}

def Rank_StartOp : Rank_WorkOp<"start"> {
  let summary = "begins a collective or a copy between memories; the region holds one par collective or transfer";
  let description = [{
    ```mlir
    %e = rank.start ins(%w : !rank.buffer<512>) outs(%g : !rank.buffer<1024>) { … par.all_gather … }
    rank.call @layer frame %f : … ins(…) outs(…)    // meanwhile
    rank.wait %e
    ```
    Started collectives and blocking ones (`rank.collective`) of a rank run one after the other, in the order of the
    program; so do started copies, in a queue of their own. Between start and wait the buffers belong to the
    transport; what lies in `outs` means nothing before the wait.

    **Constraints:** (rank_start_c1) the event is used by one rank.wait of the same block and by nothing else;
    (rank_start_c2) until then no op uses `outs`, and none writes `ins`; (rank_start_c3) the region holds one
    collective, or transfer, and its yield; (rank_start_c4) a transfer is from the device to pinned memory or back.
    (rank_work_c1) to (rank_work_c3); (rank_work_c4) for collectives.
  }];
  let results = (outs Rank_EventType:$event);
  let extraClassDeclaration = [{
    /// The op behind which the results are there; null before the op is verified.
    WaitOp getWait();
  }];
}

def Rank_WaitOp : Rank_Op<"wait", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "blocks until what was started has ended";
  let description = [{
    See `rank.start`, which creates the event. **Constraints:** (rank_wait_c1) the event is the result of a rank.start
    of the same block.
  }];
  let arguments = (ins Rank_EventType:$event);
  let assemblyFormat = "$event attr-dict";
  let hasVerifier = 1;
}

def Rank_YieldOp : Rank_Op<"yield", [Terminator, Pure]> {
  let summary = "the tensors that an op writes to its outs";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Rank_CopyOp : Rank_AccessOp<"copy"> {
  let summary = "copies a buffer, within a memory or between two";
  let description = [{
    `value` is the number of the value that is copied. **Constraints:** (rank_copy_c1) equal bytes.
  }];
  let arguments = (ins Rank_BufferType:$source, Rank_BufferType:$target, OptionalAttr<I64Attr>:$value,
      OptionalAttr<I64Attr>:$work);
  let assemblyFormat = "$source `to` $target attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Rank_CallOp : Rank_AccessOp<"call", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a rank.func; `frame` is the memory of its local buffers (and of its callees')";
  let description = [{
    ```mlir
    rank.call @block frame %f : <4096> ins(%x, %w : !rank.buffer<64>, !rank.buffer<64>) outs(%y : !rank.buffer<64>)
    ```
    With `parts = n` it is called n times, one call after the other, in the same frame. A buffer of n times the bytes
    of the argument is n parts, of which every call gets the next one; a buffer of the argument's bytes is the same
    one in every call.

    **Constraints:** (rank_call_c1) the callee is a rank.func; (rank_call_c2) the buffers have the types of its
    arguments, or `parts` times their bytes; (rank_call_c3) `frame` is of the device and holds its frame, once that is
    planned; (rank_call_c4) `parts` is at least 1; (rank_call_c5) as many `outs` as the callee has results;
    (rank_call_c6) `reads` has a number per input, `writes` one per output.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Rank_BufferType:$frame, Variadic<Rank_BufferType>:$ins,
      Variadic<Rank_BufferType>:$outs,
                       DefaultValuedAttr<I64Attr, "1">:$parts, OptionalAttr<DenseI64ArrayAttr>:$reads,
                       OptionalAttr<DenseI64ArrayAttr>:$writes);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// By how many bytes the buffer that is operand `number` of the callee moves on from call to call.
    int64_t getStride(unsigned number, FuncOp callee);
    /// What the callee's arguments are: ins, then outs.
    ::mlir::OperandRange getBuffers() { return getOperands().drop_front(1); }
  }];
  let assemblyFormat = [{
    $callee `frame` $frame `:` type($frame) `ins` `(` ($ins^ `:` type($ins))? `)`
    `outs` `(` ($outs^ `:` type($outs))? `)` attr-dict
  }];
}

def Rank_ScheduleOp : Rank_Op<"schedule", [IsolatedFromAbove, SingleBlock]> {
  let summary = "the actions of one step of a program, and the slots of its arena";
  let description = [{
    A module has a schedule per purpose (`train`, `eval`, `logits`) and, where the model is cut into a pipeline, per
    `stage`: what the ranks at one coordinate of the pipeline run. The slots of a schedule are numbered as they stand;
    a slot that the runtime fills holds the value of its number when a step begins. `rank.schedule train stage 1` is
    the second stage's.

    ```mlir
    rank.schedule train attributes {peak_bytes = 4096 : i64} {
      %w = rank.slot variable "wte" parameters {offset = 0 : i64} : !rank.buffer<1024>
      rank.action forward @forward frame %f : <64> ins(%w : !rank.buffer<1024>) outs()
          {chunk = 0 : i64, micro_batch = 0 : i64}
      rank.return
    }
    ```
  }];
  let arguments = (ins Rank_PurposeAttr:$purpose, OptionalAttr<I64Attr>:$stage, OptionalAttr<I64Attr>:$peak_bytes,
      OptionalAttr<DictionaryAttr>:$arena_bytes,
                       OptionalAttr<I64Attr>:$lower_bound, OptionalAttr<I64Attr>:$host_peak_bytes);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// "train", as in a manifest.
    ::llvm::StringRef getName() { return stringifyPurpose(getPurpose()); }
    /// The function that runs it: "par_schedule_train", of a pipeline's stage "par_schedule_train_1".
    std::string getFunctionName();
  }];
  let assemblyFormat = "$purpose (`stage` $stage^)? attr-dict-with-keyword $body";
}

def Rank_SlotOp : Rank_Op<"slot", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
  let summary = "memory of the arena that the runtime or several actions know";
  let description = [{
    Variables, inputs (one slot per micro-batch if `micro_batch` ≥ 0), constants (element i is `value` + `step` · i),
    outputs, residuals of a micro-batch, and the frame of the actions. `tensor` is the local tensor type. `also` has the
    names of other variables that live in the slot; `output`, the name under which the runtime reports a variable. Of
    inputs and outputs, `global_type` is the logical tensor and `sharding` how it is split. `value` of a loss's weight
    is what the graph says; an open input has the name of its `reader` in the runtime. A `pinned` slot lies in the
    rank's other arena, at its offset there.

    **Constraints:** (rank_slot_c1) all but frames have a `tensor`, of as many bytes as the buffer; (rank_slot_c2)
    constants have a `value` of the tensor's elements, f32 or i32; (rank_slot_c3) an offset is not negative;
    (rank_slot_c4) the memory is of the device; variables may be pinned; (rank_slot_c5) `sharding` is a `#par.sharding`;
    (rank_slot_c6) an input is named after one of `#par.place` or has a `reader`, and an output is named after one, be
    it the slot's name or `output`; (rank_slot_c7) only inputs that `#par.place` does not know have a `reader`.
  }];
  let arguments = (ins Rank_SlotKindAttr:$kind, StrAttr:$name, Rank_CategoryAttr:$category,
      OptionalAttr<TypeAttr>:$tensor,
                       DefaultValuedAttr<I64Attr, "-1">:$micro_batch, OptionalAttr<TypedAttrInterface>:$value,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<StrArrayAttr>:$also, OptionalAttr<StrAttr>:$output,
                       OptionalAttr<TypeAttr>:$global_type, OptionalAttr<AnyAttr>:$sharding,
                       DefaultValuedAttr<I64Attr, "0">:$step, OptionalAttr<StrAttr>:$reader);
  let results = (outs Rank_BufferType:$buffer);
  let extraClassDeclaration = [{
    /// What the slot is to the runtime: slots of two schedules with one identity are one.
    std::string getIdentity();
    /// Of an input, which one it is.
    ::std::optional<::mlir::par::InputKind> getInputKind();
    /// When the runtime supplies an input.
    ::mlir::par::InputTime getInputTime();
    /// What the runtime takes from the slot: from an output's, or from a variable's that it reports.
    ::std::optional<::mlir::par::OutputKind> getOutputKind();
  }];
  let assemblyFormat = "$kind $name $category attr-dict `:` type($buffer)";
}

def Rank_ActionOp : Rank_AccessOp<"action", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<Rank_EntryOpInterface>]> {
  let summary = "one entry of the schedule: runs a function";
  let description = [{
    What it does is its kind (par/Schedule/ActionCases.td), for a chunk of the model and a micro-batch; -1 is for what a
    step does once. `par-verify-schedule` replays the actions of a module.

    **Constraints:** (rank_action_c1) the callee is a rank.func; (rank_action_c2) the buffers have the types of its
    arguments; (rank_action_c3) `frame` is of the device and holds its frame, once that is planned; (rank_action_c4)
    frame and buffers are slots of the schedule; (rank_action_c5) as many `outs` as the callee has results;
    (rank_action_c6) `reads` has a number per input, `writes` one per output; (rank_action_c7) the kind runs a
    function: what crosses stages is a rank.exchange.
  }];
  let arguments = (ins Rank_ActionKindAttr:$kind, FlatSymbolRefAttr:$callee, Rank_BufferType:$frame,
      Variadic<Rank_BufferType>:$ins, Variadic<Rank_BufferType>:$outs, I64Attr:$chunk,
                       I64Attr:$micro_batch, OptionalAttr<DenseI64ArrayAttr>:$reads,
                       OptionalAttr<DenseI64ArrayAttr>:$writes);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// "forward", as in a manifest.
    ::llvm::StringRef getName() { return stringifyActionKind(getKind()); }
    /// What the callee's arguments are: ins, then outs.
    ::mlir::OperandRange getBuffers() { return getOperands().drop_front(1); }
  }];
  let assemblyFormat = [{
    $kind $callee `frame` $frame `:` type($frame) `ins` `(` ($ins^ `:` type($ins))? `)`
    `outs` `(` ($outs^ `:` type($outs))? `)` attr-dict
  }];
}

def Rank_ExchangeOp : Rank_AccessOp<"exchange", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Rank_EntryOpInterface>]> {
  let summary = "one entry of the schedule: a part of a message between stages, or a sum over stages";
  let description = [{
    ```mlir
    rank.exchange send_activation with [1] ins(%y : !rank.buffer<64>) outs()
        {chunk = 0 : i64, micro_batch = 2 : i64}
    ```
    A message begins at both ends (`send_activation`, on the other stage `receive_activation`) and is waited for at both
    (`sent_activation`, `received_activation`). In between the buffers are the transport's: what is sent may be read,
    what is received means nothing. The messages from one stage to another are received in the order in which they are
    sent. The other rank has the same coordinates on all axes but `pp`.

    `sum_gradients` and `sum_squares` add up buffers over the ranks of some stages, in place and in the order of the
    stages.

    `number` is the entry of the manifest's list `messages`, or `collectives` for a sum (`rank-number-work`).

    **Constraints:** (rank_exchange_c1) the kind is a message's or a sum's; (rank_exchange_c2) buffers are slots of the
    schedule; (rank_exchange_c3) what is sent is `ins` only, what is received `outs` only, and a sum has the same
    buffers as both; (rank_exchange_c4) `stages` is the other stage of a message, and of a sum all, in ascending order,
    this one among them; (rank_exchange_c5) `reads` has a number per input, `writes` one per output that is written.
  }];
  let arguments = (ins Rank_ActionKindAttr:$kind, DenseI64ArrayAttr:$stages, Variadic<Rank_BufferType>:$ins,
      Variadic<Rank_BufferType>:$outs, I64Attr:$chunk, I64Attr:$micro_batch, OptionalAttr<DenseI64ArrayAttr>:$reads,
                       OptionalAttr<DenseI64ArrayAttr>:$writes, OptionalAttr<I64Attr>:$number);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// "send_activation", as in a manifest.
    ::llvm::StringRef getName() { return stringifyActionKind(getKind()); }
    /// What is sent, received or added up.
    ::mlir::OperandRange getBuffers() { return getIns().empty() ? getOuts() : getIns(); }
  }];
  let assemblyFormat = [{
    $kind `with` $stages `ins` `(` ($ins^ `:` type($ins))? `)` `outs` `(` ($outs^ `:` type($outs))? `)` attr-dict
  }];
}

#endif // PAR_RANK_OPS
