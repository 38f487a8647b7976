//===- PaddedSizes.cpp - how large dimensions are with their padding ------------------------------===//
#include "PaddedSizes.h"
#include "par/Dialect/Par/IR/Par.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

/// A row may become longer by one of so many parts: beyond that, what is moved and multiplied for nothing
/// costs more than what whole rows gain.
static constexpr int64_t kMostPadding = 8;

/// Rows of what a product reads or writes; none of a vector.
static std::optional<unsigned> findRowDim(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 2 || !getSharding(value))
    return std::nullopt;
  return type.getRank() - 1;
}

template <typename See>
static void visitProducts(ModuleOp module, See see) {
  module.walk([&](KernelOpInterface op) {
    if (op.getKernelKind() != KernelKind::Gemm)
      return;
    llvm::for_each(op->getOperands(), see);
    llvm::for_each(op->getResults(), see);
  });
}

/// Where all are multiples in the shards of each product, they are multiples in those of all products.
static bool hasUnevenRows(ModuleOp module, MeshAttr mesh, int64_t rowElements) {
  bool found = false;
  visitProducts(module, [&](Value value) {
    if (std::optional<unsigned> dim = findRowDim(value); dim && !found)
      found = cast<RankedTensorType>(value.getType()).getDimSize(*dim) %
                  (rowElements * mesh.getSize(getSharding(value).getAxes(*dim))) !=
              0;
  });
  return found;
}

PaddedSizes::PaddedSizes(ModuleOp module, MeshAttr mesh, int64_t rowElements) : mesh(mesh) {
  if (rowElements <= 1 || !hasUnevenRows(module, mesh, rowElements))
    return;
  SymbolTable symbols(module);
  dims.emplace(module, symbols);
  for (auto &[dim, row] : findRows(module)) {
    int64_t whole = llvm::alignTo(row.size, rowElements * row.shards);
    if (whole > row.size && whole - row.size <= row.size / kMostPadding)
      rows[dim] = whole;
  }
}

std::map<SameDims::Key, PaddedSizes::Row> PaddedSizes::findRows(ModuleOp module) const {
  std::map<SameDims::Key, Row> found;
  visitProducts(module, [&](Value value) {
    std::optional<unsigned> last = findRowDim(value);
    if (!last || dims->isFixed(value, *last))
      return;
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(*last);
    Row &row = found.try_emplace(dims->find(value, *last), Row{size, 1}).first->second;
    row.shards = std::lcm(row.shards, mesh.getSize(getSharding(value).getAxes(*last)));
  });
  return found;
}

bool PaddedSizes::hasLongRows(Value value, unsigned dim) const {
  return !rows.empty() && rows.count(dims->find(value, dim));
}

int64_t PaddedSizes::getWhole(Value value, unsigned dim) const {
  if (hasLongRows(value, dim))
    return rows.at(dims->find(value, dim));
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

SmallVector<int64_t> PaddedSizes::getShape(Value value, ShardingAttr sharding) const {
  SmallVector<int64_t> whole;
  for (unsigned dim = 0, rank = cast<RankedTensorType>(value.getType()).getRank(); dim < rank; ++dim)
    whole.push_back(getWhole(value, dim));
  return sharding.getPaddedShape(whole, mesh);
}

bool PaddedSizes::isPadded(Value value, unsigned dim) const {
  ShardingAttr sharding = getSharding(value);
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  return sharding && (getWhole(value, dim) != size || size % mesh.getSize(sharding.getAxes(dim)) != 0);
}

bool PaddedSizes::padAny(ModuleOp module) const {
  auto isAnyPadded = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0, rank = type ? type.getRank() : 0; dim < rank; ++dim)
      if (isPadded(value, dim))
        return true;
    return false;
  };
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && llvm::any_of(function.getArguments(), isAnyPadded))
      return true;
  return module
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResults(), isAnyPadded) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void PaddedSizes::addLike(Value built, Value like) {
  if (dims)
    dims->join(like, built);
}

bool PaddedSizes::giveUpRows(Value value, unsigned dim) {
  return !rows.empty() && rows.erase(dims->find(value, dim)) > 0;
}
