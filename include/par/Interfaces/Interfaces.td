//===- Interfaces.td - what a pass may ask of an op ---------------------------------------------------------===//
#ifndef PAR_INTERFACES
#define PAR_INTERFACES

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{
    How an op may be partitioned, as data: its factors (einsum letters), their kinds and the operand sets in which it
    is linear. The partitioner knows nothing else about ops, except that `localize` writes the op on one rank's
    shards.
  }];
  let methods = [
    InterfaceMethod<"The factors of this op with its present types.",
      "::mlir::par::RuleAttr", "getShardingRule">,
    InterfaceMethod<[{
      The op on one rank: called with local operands after every operand has the sharding of the factor assignment.
      The default clones the op with local types: right unless a sharded factor carries position (iota, vocabulary)
      or is of kind permutation (the op must then exchange data itself). Results summed over a sharded reduction
      factor are partial sums; the caller knows.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "localize",
        (ins "::mlir::par::Localizer &":$localizer), "",
      [{ return localizer.clone(); }]>,
    InterfaceMethod<[{
      What the padding of operand `index` must hold along a reduced or permuted factor so that it does not change the
      result: 0, or -infinity under a maximum. None: the op disregards padding itself (it knows the valid size).
    }], "std::optional<double>", "getPaddingNeutral", (ins "unsigned":$index), "", [{ return 0.0; }]>,
    InterfaceMethod<[{
      True when zero in all operands at a padded position of a pass-through factor gives zero in the result there
      although the op is not linear (tanh, maximum of zeros).
    }], "bool", "mapsZeroToZero", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      True if the results hold zeros in the padding along a factor whatever the operands hold there: the op knows the
      true size.
    }], "bool", "clearsPadding", (ins "int64_t":$factor), "", [{ return false; }]>,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{
    Reverse mode. Ops are built after the forward op and may use its operands and results; the pass decides what of
    that is saved and what is recomputed.
  }];
  let methods = [
    InterfaceMethod<[{
      `cotangents` has a value per result, null where nothing flows back. Sets `operandCotangents[i]` (preset to one
      null per operand) for every i with `needed[i]`, or leaves it null where the derivative is zero.
    }], "::mlir::LogicalResult", "differentiate",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents, "::llvm::ArrayRef<bool>":$needed,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>,
    InterfaceMethod<[{True for ops so cheap that the backward pass recomputes them rather than keep their result;
      memory-bound and without a reduction. The op's class says so, but for composite ops.}],
      "bool", "isCheapToRecompute", (ins), "", [{ return ::mlir::par::isCheapClass(::mlir::par::getOpClass($_op)); }]>,
  ];
}

def InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{
    The meaning of an op: a slow, plain evaluation in f64 that every other path is tested against.
  }];
  let methods = [
    InterfaceMethod<"Sets `results[i].values` for every result; `results[i].type` is set and `values` has its size.",
      "::mlir::LogicalResult", "interpret",
      (ins "::llvm::ArrayRef<::mlir::par::Tensor>":$operands, "::llvm::MutableArrayRef<::mlir::par::Tensor>":$results,
           "::mlir::par::InterpreterContext &":$context)>,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{ What an op costs with its present types. Bytes follow from the types. }];
  let methods = [
    InterfaceMethod<"Floating-point operations; a multiply-add counts two; causal attention counts the half it needs.",
      "double", "getFlops", (ins), "", [{ return ::mlir::par::countResultElements($_op); }]>,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{ An op in which ranks exchange data. Operand i and result i belong together. }];
  let methods = [
    InterfaceMethod<"Mesh axes over which the ranks of a group differ; the group's order is row-major over them.",
      "::llvm::SmallVector<::llvm::StringRef>", "getCollectiveAxes">,
    InterfaceMethod<"The contract's name: all_reduce, reduce_scatter, …", "::llvm::StringRef", "getCollectiveKind">,
    InterfaceMethod<[{
      All members at once: `operands[member][i]` → `results[member][i]`,
          whose types are set and whose values have size.
    }], "::mlir::LogicalResult", "interpretGroup",
      (ins "::llvm::ArrayRef<::llvm::ArrayRef<::mlir::par::Tensor>>":$operands,
           "::llvm::ArrayRef<::llvm::MutableArrayRef<::mlir::par::Tensor>>":$results)>,
    InterfaceMethod<"Ring bytes on the wire per rank in a group of `n` (contract, item 11).",
      "double", "getWireBytes", (ins "int64_t":$n)>,
    InterfaceMethod<"True when result i may lie where operand i lies.", "bool", "worksInPlace", (ins), "",
      [{ return false; }]>,
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{
    What kind of op an op is and how it becomes code. Whoever treats ops differently asks their class; nobody keeps a
    list of ops. How an op becomes code follows from its class: an elementwise one, and what moves, selects or sums
    elements, is known to the kernel generator by `emitElement`; a composite one is rewritten into those by
    `decompose` inside a kernel; a library's is a call into the runtime; a view costs nothing; an annotation or an
    opaque op never reaches a kernel.
  }];
  let methods = [
    InterfaceMethod<"What kind of op it is.", "::mlir::par::OpClass", "getOpClass">,
    InterfaceMethod<"How it becomes code: contractions that a library computes say so themselves.",
      "::mlir::par::KernelKind", "getKernelKind", (ins), "",
      [{ return ::mlir::par::getKernelKind(::mlir::par::getOpClass($_op)); }]>,
    InterfaceMethod<[{
      Writes the code for the element of the op's one result at `index`, a value of type index per dimension. The
      default is that of elementwise ops: the same op on the elements of its operands.
    }], "::mlir::FailureOr<::mlir::Value>", "emitElement",
      (ins "::mlir::par::ElementBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$index), "",
      [{ return ::mlir::par::emitElementwise($_op, builder, index); }]>,
    InterfaceMethod<[{
      True when `step` elements side by side, the first of which has a number that `step` divides, are made of such
      elements or of one, so that a kernel computes them by whole accesses to memory.
    }], "bool", "keepsSteps", (ins "int64_t":$step), "", [{ return ::mlir::par::keepsStepsOfClass($_op, step); }]>,
    InterfaceMethod<"True when its elements depend on which rank computes them: the kernel needs coordinates.",
      "bool", "usesCoordinates", (ins), "", [{ return false; }]>,
    InterfaceMethod<"The op's results in elementwise and primitive ops (composite ops, elementwise ones of par's own).",
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder), "",
      [{ return ::mlir::failure(); }]>,
    InterfaceMethod<[{
      True when every floating-point result may have a wider element type than the operands: the op sums in f32 or
      more and rounds what it stores, so that its type is a matter of rounding alone.
    }], "bool", "mayWidenResults", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      True when element i of the op's results depends on element i of this operand alone, so that a kernel may write
      them where the operand lies.
    }], "bool", "readsInPlace", (ins "unsigned":$operand), "", [{ return ::mlir::par::isElementwise($_op); }]>,
    InterfaceMethod<[{
      True when a kernel writes parts of a result before it has read all that it needs for them (a norm's rows): its
      result lies over nothing that it reads.
    }], "bool", "writesBeforeItReads", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      True when a kernel adds up this result term by term where it lies (columns over rows, scattered rows): it may
      begin with what is there.
    }], "bool", "addsUpInMemory", (ins "unsigned":$result), "", [{ return false; }]>,
  ];
}

def AddsRowsOpInterface : OpInterface<"AddsRowsOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{
    An op of class AddsRows: row r of its result is the sum of those of its rows whose id is r + offset, in row-major
    order of the ids. Kernels add the rows to a table in memory, one after the other.
  }];
  let methods = [
    InterfaceMethod<"Numbers of rows, of any shape.", "::mlir::Value", "getIds">,
    InterfaceMethod<"A row for each id: the ids' shape, then that of a row.", "::mlir::Value", "getRows">,
    InterfaceMethod<"The id of the result's first row; null: 0.", "::mlir::Value", "getOffset">,
    InterfaceMethod<[{
      True when no id comes that the whole table has no row for: whoever makes them has checked. Rows of padding
      then get nothing.
    }], "bool", "areIdsChecked", (ins), "", [{ return false; }]>,
  ];
}

def LibraryOpInterface : OpInterface<"LibraryOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{
    An op of class Library: a library, or a function that is written by hand, computes it as a whole. Passes ask it what
    they may do around it, and reports what it is. How a target calls it is the target's to say
    (par/Target/LibraryCall.h).
  }];
  let methods = [
    InterfaceMethod<[{
      The operands that may be rows of a joint tensor: what it needs to know is where the first row begins and how far
      apart rows are, so that a slice before it costs nothing.
    }], "::llvm::SmallVector<unsigned>", "getRowOperands", (ins), "", [{ return {}; }]>,
    InterfaceMethod<[{
      The results that it may write into rows of a joint tensor, so that a concatenation of them costs nothing. Rising,
      as getRowOperands.
    }], "::llvm::SmallVector<unsigned>", "getRowResults", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"Name of the op of rank programs that holds it, a rank::LibraryWorkInterface.",
      "::llvm::StringRef", "getWorkName", (ins), "", [{ return "rank.library"; }]>,
    InterfaceMethod<"Under what its time is reported.", "::mlir::par::WorkKind", "getWorkKind", (ins), "",
      [{ return ::mlir::par::WorkKind::Kernel; }]>,
    InterfaceMethod<"Its name in profiles.", "::llvm::StringRef", "getProfileClass", (ins), "",
      [{ return $_op->getName().stripDialect(); }]>,
    InterfaceMethod<[{
      How many times its own operations its derivative takes, where so many operands have a gradient: as a product's,
      once for each.
    }], "double", "countGradientPasses", (ins "int64_t":$operands), "",
      [{ return static_cast<double>(operands); }]>,
    InterfaceMethod<"True when a row of a result depends on rows behind it in the sequence.", "bool", "seesLaterRows",
      (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Is told of operands what every call of its function gives them, before they become buffers: `areOneSequence`
      says whether two vectors are both p, p + 1, … with one p.
    }], "void", "noteSequences",
      (ins "::llvm::function_ref<bool(::mlir::Value, ::mlir::Value)>":$areOneSequence)>,
  ];
}

def DropoutOpInterface : OpInterface<"DropoutOpInterface"> {
  let cppNamespace = "::mlir::par";
  let description = [{ An op that drops elements in training and none in evaluation. }];
  let methods = [
    InterfaceMethod<"False when it drops nothing in training either.", "bool", "drops", (ins), "",
      [{ return true; }]>,
    InterfaceMethod<"Makes of it what evaluation computes; the op may be gone after it.", "void", "stopDropping">,
  ];
}

/// The op's result is a choice (a routing): every reader must see the same one, so that nothing runs the op again.
def ChosenOnce : NativeOpTrait<"ChosenOnce"> {
  let cppNamespace = "::mlir::par";
}

#endif // PAR_INTERFACES
