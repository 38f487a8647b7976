//===- Epilogue.cpp - what a product's call computes beside the product ---------------------------------===//
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Dialect/Par/IR/Gelu.h"

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::rank;

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

bool rank::mayHaveAux(const GemmShape &gemm) { return gemm.n % 8 == 0; }

Value rank::findBias(Value value, const GemmShape &gemm, SmallVectorImpl<Operation *> &ops) {
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  auto expand = (wide ? wide.getIn() : value).getDefiningOp<ExpandOp>();
  if (!expand || getType(expand.getInput()).getNumElements() != gemm.n ||
      getType(expand.getInput()).getRank() == 0)
    return {};
  // All new dimensions before all others: the vector is a row.
  for (auto [number, dim] : llvm::enumerate(expand.getDims()))
    if (dim != static_cast<int64_t>(number))
      return {};
  if (wide)
    ops.push_back(wide);
  ops.push_back(expand);
  return expand.getInput();
}

namespace {
class Matcher {
public:
  Matcher(EinsumOp product, const GemmShape &gemm) : product(product), gemm(gemm) {}

  std::optional<ProductEpilogue> run() {
    if (matchSums() || matchGradient() || matchBias())
      return found;
    return std::nullopt;
  }

private:
  /// What nobody outside of these ops uses, but for the values that the call writes.
  bool isClosed(ArrayRef<Value> written) const {
    llvm::SmallPtrSet<Operation *, 32> inside(found.ops.begin(), found.ops.end());
    inside.insert(product);
    return llvm::all_of(found.ops, [&](Operation *op) {
      Value value = op->getResult(0);
      return llvm::is_contained(written, value) ||
             llvm::all_of(value.getUsers(), [&](Operation *user) { return inside.contains(user); });
    });
  }

  bool hasType(Value value, Value other) const {
    return getType(value).getElementType() == getType(other).getElementType();
  }

  /// The one rounding at the end; an f32 value without one is the result itself.
  Value round(Value value) {
    auto narrow =
        value.hasOneUse() ? dyn_cast<arith::TruncFOp>(*value.getUsers().begin()) : arith::TruncFOp();
    if (!narrow || !getType(narrow.getOut()).getElementType().isBF16() || !isFromBf16())
      return value;
    found.ops.push_back(narrow);
    return narrow.getOut();
  }

  bool isFromBf16() { return getType(product.getInputs()[0]).getElementType().isBF16(); }

  //===--------------------------------------------------------------------===//
  // Bias, and GELU behind it
  //===--------------------------------------------------------------------===//

  bool matchBias() {
    Value value = product.getResult();
    auto add = value.hasOneUse() ? dyn_cast<arith::AddFOp>(*value.getUsers().begin()) : arith::AddFOp();
    if (!add || add.getLhs() == add.getRhs())
      return false;
    found.ops = {add};
    found.vector = findBias(add.getLhs() == value ? add.getRhs() : add.getLhs(), gemm, found.ops);
    if (!found.vector)
      return false;
    ProductEpilogue bias = found;
    if (matchGelu(add.getResult()))
      return true;
    found = bias;
    found.kind = Epilogue::Bias;
    found.result = round(add.getResult());
    return hasType(found.vector, found.result) && isClosed(found.result);
  }

  bool matchGelu(Value sum) {
    std::optional<GeluMatch> gelu = findGelu(sum);
    if (!gelu || !mayHaveAux(gemm))
      return false;
    found.ops.append(gelu->ops);
    found.result = round(gelu->result);
    found.aux = findAux(sum, gelu->ops);
    found.kind = found.aux ? Epilogue::BiasGeluAux : Epilogue::BiasGelu;
    SmallVector<Value> written{found.result};
    if (found.aux)
      written.push_back(found.aux);
    return hasType(found.vector, found.result) && (!found.aux || hasType(found.aux, found.result)) &&
           isClosed(written);
  }

  /// What others need of GELU's input: that itself, or rounded.
  Value findAux(Value sum, ArrayRef<Operation *> gelu) {
    SmallVector<Operation *> others;
    for (Operation *user : sum.getUsers())
      if (!llvm::is_contained(gelu, user))
        others.push_back(user);
    if (others.empty())
      return {};
    auto narrow = others.size() == 1 ? dyn_cast<arith::TruncFOp>(others.front()) : arith::TruncFOp();
    if (!narrow || !getType(narrow.getOut()).getElementType().isBF16() || !isFromBf16())
      return sum;
    found.ops.push_back(narrow);
    return narrow.getOut();
  }

  //===--------------------------------------------------------------------===//
  // Gradients
  //===--------------------------------------------------------------------===//

  bool matchGradient() {
    std::optional<GeluMatch> gradient = findGeluGradient(product.getResult());
    if (!gradient || !mayHaveAux(gemm))
      return false;
    found.ops = gradient->ops;
    found.aux = gradient->input;
    found.result = round(gradient->result);
    found.kind = Epilogue::GeluGradient;
    return found.aux.getType() == found.result.getType() && isClosed(found.result);
  }

  /// The sum of an operand over what the product sums over: of a gradient, the bias's beside the weight's.
  bool matchSums() {
    StringRef letters = product.getResultLetters();
    for (unsigned operand : {0u, 1u})
      for (Operation *user : product.getInputs()[operand].getUsers()) {
        auto sum = dyn_cast<ReduceOp>(user);
        if (!sum || sum->getBlock() != product->getBlock() || sum.getKind() != ReduceKind::Sum ||
            !hasType(sum.getResult(), product.getResult()) || !isOver(sum, operand, letters))
          continue;
        bool isA = (operand == 1) == gemm.swapped;
        found.kind = isA ? Epilogue::SumsOfA : Epilogue::SumsOfB;
        found.result = product.getResult();
        found.vector = sum.getResult();
        found.ops = {sum};
        return getType(found.vector).getElementType().isF32();
      }
    return false;
  }

  /// Sums over the letters that the result lacks; the others stand in the order of the result's.
  bool isOver(ReduceOp sum, unsigned operand, StringRef result) {
    std::string kept, there;
    for (auto [dim, letter] : llvm::enumerate(product.getOperandLetters()[operand])) {
      bool isSummed = llvm::is_contained(sum.getDims(), static_cast<int64_t>(dim));
      if (isSummed == result.contains(letter))
        return false;
      if (!isSummed)
        kept += letter;
    }
    for (char letter : result)
      if (StringRef(kept).contains(letter))
        there += letter;
    return kept == there && !kept.empty();
  }

  EinsumOp product;
  const GemmShape &gemm;
  ProductEpilogue found;
};
} // namespace

std::optional<ProductEpilogue> rank::matchEpilogue(EinsumOp product) {
  std::optional<GemmShape> gemm = matchGemm(product);
  if (!gemm || gemm->batch != 1 || !product.getType().getElementType().isF32())
    return std::nullopt;
  return Matcher(product, *gemm).run();
}
