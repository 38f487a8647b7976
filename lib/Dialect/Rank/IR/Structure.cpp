//===- Structure.cpp - what a library call computes, told from a region ---------------------------------===//
#include "par/Dialect/Rank/IR/Structure.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/RowView.h"
#include "par/Dialect/Rank/IR/Epilogue.h"

using namespace mlir;
using namespace mlir::par;
using namespace mlir::par::rank;

/// The number of the input or output that is this buffer's tensor; -1 for none.
static int64_t getNumber(ValueRange tensors, Value tensor) {
  auto found = llvm::find(tensors, tensor);
  return found == tensors.end() ? -1 : std::distance(tensors.begin(), found);
}

static ValueRange getOutputs(Block &body) { return body.getTerminator()->getOperands(); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// What a product is added to: `beta` is 1 for something, which lies in `c` if it is no input.
struct Begin {
  int64_t beta = 0, addend = -1, scale = -1;
};

class ProductReader {
public:
  explicit ProductReader(Block &body) : body(body) {}

  /// None if the body is no call.
  SmallVector<Attribute> run() {
    SmallVector<Attribute> products;
    for (auto einsum : body.getOps<EinsumOp>()) {
      ProductAttr product = read(einsum);
      if (!product)
        return {};
      products.push_back(product);
    }
    // Several are one call if all are f32 matrices and nothing else is computed of them.
    bool isCall = products.size() == 1 || llvm::all_of(products, [](Attribute attribute) {
                    auto product = cast<ProductAttr>(attribute);
                    return product.getBatch() == 1 && product.getFrom().isF32() &&
                           product.getEpilogue() == Epilogue::None;
                  });
    bool isAll =
        llvm::all_of(body.without_terminator(), [&](Operation &op) { return covered.contains(&op); });
    return isCall && isAll ? products : SmallVector<Attribute>();
  }

private:
  ProductAttr read(EinsumOp einsum) {
    std::optional<GemmShape> gemm = matchGemm(einsum);
    std::optional<ProductEpilogue> epilogue = matchEpilogue(einsum);
    bool isChanged = changesProduct(epilogue); // then what is added behind it is no sum to begin with
    std::optional<Begin> begin = isChanged ? Begin{} : readBegin(einsum);
    if (!gemm || !begin)
      return {};
    covered.insert(einsum);
    Value c = isChanged ? epilogue->result : findEnd(einsum);
    Value left = einsum.getInputs()[gemm->swapped], right = einsum.getInputs()[!gemm->swapped];
    int64_t a = getNumber(body.getArguments(), left), b = getNumber(body.getArguments(), right),
            result = getNumber(getOutputs(body), c), vector = -1, aux = -1;
    if (a < 0 || b < 0 || result < 0 || (epilogue && !readEpilogue(*epilogue, vector, aux)))
      return {};
    return ProductAttr::get(einsum.getContext(), a, b, result, getElementTypeOrSelf(left.getType()),
                            getElementTypeOrSelf(c.getType()), gemm->m, gemm->n, gemm->k, gemm->batch,
                            gemm->transposeA, gemm->transposeB, gemm->lda, gemm->ldb, gemm->ldc,
                            gemm->strideA, gemm->strideB, gemm->strideC, begin->beta, begin->addend,
                            begin->scale, epilogue ? epilogue->kind : Epilogue::None, vector, aux);
  }

  static Value findEnd(EinsumOp einsum) {
    Value sum = einsum.getResult();
    while (std::optional<Addition> addition = findAddition(sum))
      sum = addition->add.getResult();
    return sum;
  }

  static bool changesProduct(const std::optional<ProductEpilogue> &epilogue) {
    return epilogue && epilogue->kind != Epilogue::SumsOfA && epilogue->kind != Epilogue::SumsOfB;
  }

  /// The numbers of the other buffers; false if they are none's.
  bool readEpilogue(const ProductEpilogue &epilogue, int64_t &vector, int64_t &aux) {
    covered.insert(epilogue.ops.begin(), epilogue.ops.end());
    bool writesVector = !changesProduct(epilogue), writesAux = epilogue.kind == Epilogue::BiasGeluAux;
    if (epilogue.vector)
      vector = getNumber(writesVector ? getOutputs(body) : ValueRange(body.getArguments()), epilogue.vector);
    if (epilogue.aux)
      aux = getNumber(writesAux ? getOutputs(body) : ValueRange(body.getArguments()), epilogue.aux);
    return (!epilogue.vector || vector >= 0) && (!epilogue.aux || aux >= 0);
  }

  /// Nothing, a tensor, a tensor times a scalar, or the products before, which lie in the sum by then.
  std::optional<Begin> readBegin(EinsumOp einsum) {
    std::optional<Addition> addition = findAddition(einsum.getResult());
    if (!addition)
      return Begin{};
    covered.insert(addition->add);
    Operation *other = addition->other.getDefiningOp();
    if (isa_and_nonnull<EinsumOp, arith::AddFOp>(other)) {
      bool isThere = other->isBeforeInBlock(einsum);
      if (!isThere && !isa<EinsumOp>(other))
        return std::nullopt; // the sum would be written over
      return Begin{isThere ? 1 : 0, -1, -1};
    }
    int64_t addend = getNumber(body.getArguments(), addition->begin);
    if (addend < 0 || !addition->scaled)
      return addend < 0 ? std::nullopt : std::optional(Begin{1, addend, -1});
    covered.insert(addition->scaled);
    for (Value factor : addition->scaled->getOperands())
      covered.insert(factor.getDefiningOp()); // the broadcast; an input has none
    int64_t scale = getNumber(body.getArguments(), addition->scale);
    return scale < 0 ? std::nullopt : std::optional(Begin{1, addend, scale});
  }

  Block &body;
  llvm::SmallPtrSet<Operation *, 8> covered;
};
} // namespace

ArrayAttr rank::describeProducts(Block &body) {
  return ArrayAttr::get(body.getParent()->getContext(), ProductReader(body).run());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static RowsAttr describeView(const RowView &view, ValueRange tensors) {
  int64_t buffer = getNumber(tensors, view.buffer);
  return buffer < 0 ? RowsAttr() : RowsAttr::get(view.buffer.getContext(), buffer, view.offset, view.stride);
}

/// Where the rows of a result lie: in the concatenation that is all that becomes of it, or on their own.
static RowView viewResult(Value result) {
  Value value = result;
  while (value.hasOneUse() && isa<ReshapeOp>(*value.getUsers().begin()))
    value = value.getUsers().begin()->getResult(0);
  auto concat = value.hasOneUse() ? dyn_cast<ConcatOp>(*value.getUsers().begin()) : ConcatOp();
  std::optional<RowView> view =
      concat ? viewInConcat(concat, value.getUses().begin()->getOperandNumber()) : std::nullopt;
  return view ? *view : RowView{result, 0, getRowElements(cast<RankedTensorType>(result.getType())), {}};
}

std::optional<LibraryRows> rank::describeRows(par::LibraryOpInterface op, Block &body) {
  LibraryRows rows;
  for (unsigned operand : op.getRowOperands())
    rows.operands.push_back(describeView(viewRows(op->getOperand(operand)), body.getArguments()));
  for (unsigned result : op.getRowResults())
    rows.results.push_back(describeView(viewResult(op->getResult(result)), getOutputs(body)));
  bool lieInBuffers =
      !llvm::is_contained(rows.operands, RowsAttr()) && !llvm::is_contained(rows.results, RowsAttr());
  return lieInBuffers ? std::optional(std::move(rows)) : std::nullopt;
}
