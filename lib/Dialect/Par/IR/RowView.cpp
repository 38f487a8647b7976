//===- RowView.cpp - values that lie in the rows of other values ----------------------------------------===//
#include "par/Dialect/Par/IR/RowView.h"

using namespace mlir;
using namespace mlir::par;

static constexpr unsigned kLeading = 2;

int64_t par::getRowElements(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape().drop_front(kLeading))
    elements *= size;
  return elements;
}

static bool haveSameRows(RankedTensorType a, RankedTensorType b) {
  return a.getRank() >= kLeading && b.getRank() >= kLeading &&
         a.getShape().take_front(kLeading) == b.getShape().take_front(kLeading);
}

/// The first element of a box within a row, if the box is one run: whole in all dimensions behind the first
/// that is longer than 1.
static std::optional<int64_t> findRun(ArrayRef<int64_t> offsets, ArrayRef<int64_t> box,
                                      ArrayRef<int64_t> row) {
  int64_t first = 0, elements = 1;
  bool whole = true; // every dimension so far, from the last on
  for (size_t dim = row.size(); dim-- > 0;) {
    if (!whole && box[dim] != 1)
      return std::nullopt;
    whole &= box[dim] == row[dim];
    first += offsets[dim] * elements;
    elements *= row[dim];
  }
  return first;
}

static std::optional<int64_t> findRun(SliceOp slice) {
  RankedTensorType from = slice.getInput().getType(), to = slice.getType();
  if (!haveSameRows(from, to))
    return std::nullopt;
  return findRun(slice.getOffsets().drop_front(kLeading), to.getShape().drop_front(kLeading),
                 from.getShape().drop_front(kLeading));
}

RowView par::viewRows(Value value) {
  RowView view{value, 0, getRowElements(cast<RankedTensorType>(value.getType())), {}};
  SmallVector<Operation *> ops;
  Value at = value;
  while (auto reshape = at.getDefiningOp<ReshapeOp>()) {
    if (!haveSameRows(reshape.getInput().getType(), reshape.getType()))
      return view;
    ops.push_back(reshape);
    at = reshape.getInput();
  }
  auto slice = at.getDefiningOp<SliceOp>();
  std::optional<int64_t> first = slice ? findRun(slice) : std::nullopt;
  if (!first)
    return view;
  ops.push_back(slice);
  return {slice.getInput(), *first, getRowElements(slice.getInput().getType()), ops};
}

std::optional<RowView> par::viewInConcat(ConcatOp concat, unsigned operand) {
  RankedTensorType whole = concat.getType();
  auto part = cast<RankedTensorType>(concat.getInputs()[operand].getType());
  if (!haveSameRows(part, whole))
    return std::nullopt;
  SmallVector<int64_t> offsets(whole.getRank(), 0);
  for (Value before : concat.getInputs().take_front(operand))
    offsets[concat.getDim()] += cast<RankedTensorType>(before.getType()).getDimSize(concat.getDim());
  ArrayRef<int64_t> place(offsets);
  std::optional<int64_t> first = findRun(place.drop_front(kLeading), part.getShape().drop_front(kLeading),
                                         whole.getShape().drop_front(kLeading));
  if (!first)
    return std::nullopt;
  return RowView{concat.getResult(), *first, getRowElements(whole), {concat}};
}
