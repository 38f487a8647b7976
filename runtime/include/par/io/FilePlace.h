/// Where variables lie in a model's files (docs/IR.md, "Places in files"; docs/Package.md, "Variables"). The
/// compiler checks with it what a graph says, the runtime what a manifest says.
#ifndef PAR_IO_FILEPLACE_H
#define PAR_IO_FILEPLACE_H

#include "par/io/Layout.h"
#include "par/io/Status.h"

namespace par::io {

/// A part of a variable, and what it is of a tensor of the files: transposed by `permutation` (dimension i of
/// the transposed part is dimension permutation[i] of the variable) and reshaped it is the slice.
struct FilePiece {
  std::string name;  ///< of the tensor; "{}" stands for the number of one of a stack
  int64_t stack = 0; ///< tensors that the part is cut into along dimension 0; 0: it is in one
  Shape shape;       ///< of the tensor
  std::vector<int64_t> permutation;
  Shape view;   ///< the tensor reshaped, so that `slice` is a range of each dimension
  Ranges slice; ///< of the view
  Ranges part;  ///< of the variable
};

struct FilePlace {
  std::vector<FilePiece> pieces;
  double offset = 0; ///< added to the files' values when they are loaded
};

/// An end that stands for the dimension's.
constexpr int64_t toEnd = -1;

/// Without stacks, and with the strides: what lies in one tensor.
struct TensorPart {
  std::string name;
  Shape shape, view;
  Ranges slice, part;
  int64_t first; ///< place in the tensor of the part's first element
  Shape strides; ///< elements of the tensor between neighbours, by dimensions of the variable
};

/// The place with what is left out: all of the variable, its order, the sizes of the part, all of the tensor.
FilePlace withDefaults(FilePlace place, const Shape &variable);

/// One piece, which is the whole variable.
FilePlace wholePlace(const std::string &name, const Shape &variable);

/// The piece, when it is the whole variable and a whole tensor, and the values are the tensor's; else null.
const FilePiece *wholePiece(const FilePlace &place, const Shape &variable);

/// Everything that is wrong with a complete place: pieces that do not fit variable or tensor, that overlap or
/// leave a gap.
std::vector<std::string> problemsOf(const FilePlace &place, const Shape &variable);

/// Of a place without problems, in its order.
std::vector<TensorPart> partsOf(const FilePlace &place, const Shape &variable);

/// The dimensions that the files give the values of a piece: those of the tensor, or of its slice where that
/// takes one element of some.
size_t rankInFile(const FilePlace &place);

/// A variable's value of a file's, and the other way round: computed in f32. Gradients have no offset.
float fromFile(const FilePlace &place, float value);
float toFile(const FilePlace &place, float value);

bool operator==(const FilePlace &a, const FilePlace &b);

} // namespace par::io
#endif
