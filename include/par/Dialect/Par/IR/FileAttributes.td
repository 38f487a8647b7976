//===- FileAttributes.td - where variables lie in a model's files -------------------------------------------===//
#ifndef PAR_FILE_ATTRIBUTES
#define PAR_FILE_ATTRIBUTES

include "par/Dialect/Par/IR/ParAttrBase.td"

def Par_FilePieceAttr : Par_Attr<"FilePiece", "file_piece"> {
  let summary = "A part of a variable, and what it is of a tensor of the model's files";
  let description = [{
    `<"h.0.attn.c_attn.weight", shape = [64, 192], permutation = [3, 0, 1, 2]>`: the part transposed by `permutation`
    (dimension i of the transposed part is dimension `permutation[i]` of the variable), then reshaped, is the file's
    tensor, whose sizes are `shape`. All keys may be left out.
    - `at = [0:2, :, 5]` is the part of the variable, by dimensions: elements 0 and 1, all, and element 5. Without it
      the part is the whole variable.
    - `slice = [0:64, :]` says that the part is no more than this of the file's tensor. `view = [8, 3, 16, 64]` reshapes
      the tensor before that, so that every eighth row or every second column is a slice, too.
    - `stack = 4` cuts the part into four along the variable's dimension 0. Each is a tensor of its own, in whose name
      the number from 0 stands for `{}`.
    - Without `shape` it is the sizes of the transposed part, of which dimensions are left out where `at` or `stack`
      takes one element of several.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"int64_t">:$stack,
                        OptionalArrayRefParameter<"int64_t">:$shape,
                        OptionalArrayRefParameter<"int64_t">:$permutation,
                        OptionalArrayRefParameter<"int64_t">:$view,
                        OptionalArrayRefParameter<"int64_t">:$sliceBegin,
                        OptionalArrayRefParameter<"int64_t">:$sliceEnd,
                        OptionalArrayRefParameter<"int64_t">:$partBegin,
                        OptionalArrayRefParameter<"int64_t">:$partEnd);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// An end that is the dimension's.
    static constexpr int64_t kToEnd = -1;
  }];
}

def Par_FileAttr : Par_Attr<"File", "file"> {
  let summary = "Where a variable lies in a model's files";
  let description = [{
    `<"mlp.up.weight">` or, with the keys of `#par.file_piece`, `<"mlp.up.weight", permutation = [1, 0]>`: one piece.
    `<[<"q.weight", at = [0:4, :]>, <"k.weight", at = [4:6, :]>]>`: several, which make up the variable without gap
    and overlap.

    `offset = 1.0` behind them is added to the file's values when they are loaded and taken away when they are saved,
    in f32.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::par::FilePieceAttr">:$pieces,
                        OptionalParameter<"::mlir::FloatAttr">:$offsetAttr);
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$name, "::llvm::ArrayRef<int64_t>":$shape,
                                   "::llvm::ArrayRef<int64_t>":$permutation)>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    double getOffset() const { return getOffsetAttr() ? getOffsetAttr().getValueAsDouble() : 0.0; }
    /// The first tensor's name, or what stands for the names of a stack.
    ::mlir::StringAttr getName() const { return getPieces().front().getName(); }
  }];
}

#endif // PAR_FILE_ATTRIBUTES
