//===- EinsumGemm.cpp - contractions that are matrix products -------------------------------------------===//
#include "par/Dialect/Par/IR/EinsumGemm.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// One tensor of a contraction.
struct Layout {
  StringRef letters;
  SmallVector<int64_t> shape, strides;

  Layout(StringRef letters, Value value)
      : letters(letters), shape(cast<RankedTensorType>(value.getType()).getShape()),
        strides(rowMajorStrides(shape)) {}
  bool has(char letter) const { return letters.contains(letter); }
  int64_t size(char letter) const { return shape[letters.find(letter)]; }
  int64_t stride(char letter) const { return strides[letters.find(letter)]; }
};

/// A group of letters as one dimension.
struct Dimension {
  int64_t size = 1, stride = 1;
};
} // namespace

/// Letters of `group` (in the order of the result or the first operand) as one dimension of a tensor: each
/// letter's stride is the next one's times its size. Letters of size 1 do not matter. None if they do not
/// collapse.
static std::optional<Dimension> collapse(StringRef group, const Layout &tensor) {
  Dimension whole;
  bool first = true;
  for (char letter : llvm::reverse(group)) {
    int64_t size = tensor.size(letter), stride = tensor.stride(letter);
    if (size == 1)
      continue;
    if (!first && stride != whole.size * whole.stride)
      return std::nullopt;
    if (first)
      whole.stride = stride;
    first = false;
    whole.size *= size;
  }
  return whole;
}

/// Rows × columns of one matrix: transposed if the columns are the strided dimension. None if neither has
/// stride 1.
static bool orient(const Dimension &rows, const Dimension &columns, bool &transposed, int64_t &leading) {
  if (columns.stride == 1 || columns.size == 1) {
    transposed = false;
    // A matrix of one column: its elements are rows.stride apart, which is the leading dimension.
    leading = rows.size == 1 ? std::max<int64_t>(columns.size, 1) : rows.stride;
    if (leading >= std::max<int64_t>(columns.size, 1))
      return true;
  }
  if (rows.stride == 1 || rows.size == 1) {
    transposed = true;
    leading = columns.size == 1 ? std::max<int64_t>(rows.size, 1) : columns.stride;
    return leading >= std::max<int64_t>(rows.size, 1);
  }
  return false;
}

/// The GEMM with `a` on the left, if C comes out untransposed.
static std::optional<GemmShape> match(const Layout &a, const Layout &b, const Layout &c) {
  std::string batch, rows, columns, contracted;
  for (char letter : c.letters)
    (a.has(letter) && b.has(letter) ? batch : a.has(letter) ? rows : columns) += letter;
  for (char letter : a.letters) {
    if (c.has(letter))
      continue;
    if (!b.has(letter))
      return std::nullopt;
    contracted += letter;
  }
  for (char letter : b.letters)
    if (!c.has(letter) && !a.has(letter))
      return std::nullopt;
  auto batchA = collapse(batch, a), batchB = collapse(batch, b), batchC = collapse(batch, c);
  auto rowsA = collapse(rows, a), rowsC = collapse(rows, c), columnsB = collapse(columns, b),
       columnsC = collapse(columns, c);
  auto contractedA = collapse(contracted, a), contractedB = collapse(contracted, b);
  if (!batchA || !batchB || !batchC || !rowsA || !rowsC || !columnsB || !columnsC || !contractedA ||
      !contractedB)
    return std::nullopt;
  // Without a contraction it is an elementwise product, with neither rows nor columns many short sums: loops
  // do these better. A single sum (a gradient's norm) may be so long that its digits need par_gemm's blocks.
  if (contractedA->size == 1 || (rowsC->size == 1 && columnsC->size == 1 && batchC->size > 1))
    return std::nullopt;
  GemmShape gemm;
  bool transposedC = false;
  if (!orient(*rowsA, *contractedA, gemm.transposeA, gemm.lda) ||
      !orient(*contractedB, *columnsB, gemm.transposeB, gemm.ldb) ||
      !orient(*rowsC, *columnsC, transposedC, gemm.ldc) || transposedC)
    return std::nullopt;
  gemm.m = rowsC->size, gemm.n = columnsC->size, gemm.k = contractedA->size, gemm.batch = batchC->size;
  gemm.strideA = batchA->stride, gemm.strideB = batchB->stride, gemm.strideC = batchC->stride;
  return gemm;
}

/// The runtime multiplies f32 into f32, and bf16 into f32 or bf16.
static bool hasGemmTypes(EinsumOp op) {
  Type from = getElementTypeOrSelf(op.getInputs()[0].getType()), to = op.getType().getElementType();
  return (from.isF32() && to.isF32()) || (from.isBF16() && (to.isF32() || to.isBF16()));
}

std::optional<GemmShape> par::matchGemm(EinsumOp op) {
  if (op.getInputs().size() != 2 || !hasGemmTypes(op))
    return std::nullopt;
  SmallVector<StringRef> letters = op.getOperandLetters();
  Layout a(letters[0], op.getInputs()[0]), b(letters[1], op.getInputs()[1]),
      c(op.getResultLetters(), op.getResult());
  if (std::optional<GemmShape> gemm = match(a, b, c))
    return gemm;
  std::optional<GemmShape> gemm = match(b, a, c);
  if (gemm)
    gemm->swapped = true;
  return gemm;
}

/// What a broadcast scalar is.
static Value getScalar(Value value) {
  auto expand = value.getDefiningOp<ExpandOp>();
  return expand && expand.getInput().getType().getRank() == 0 ? expand.getInput() : Value();
}

std::optional<Addition> par::findAddition(Value value) {
  auto add = value.hasOneUse() ? dyn_cast<arith::AddFOp>(*value.getUsers().begin()) : arith::AddFOp();
  if (!add)
    return std::nullopt;
  Value other = add.getLhs() == value ? add.getRhs() : add.getLhs();
  auto scaled = other.getDefiningOp<arith::MulFOp>();
  Value left = scaled ? getScalar(scaled.getLhs()) : Value(),
        right = scaled ? getScalar(scaled.getRhs()) : Value();
  if (!scaled || !scaled->hasOneUse() || !left == !right)
    return Addition{add, other, {}, other, {}};
  return Addition{add, other, scaled, left ? scaled.getRhs() : scaled.getLhs(), left ? left : right};
}
