//===- PaddedSizes.cpp - how large dimensions are with their padding ------------------------------===//
#include "PaddedSizes.h"
#include "par/Dialect/Par/IR/Par.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

/// A row may become longer by one of so many parts: beyond that, what is moved and multiplied for nothing
/// costs more than what whole rows gain.
static constexpr int64_t kMostPadding = 8;

PaddedSizes::PaddedSizes(ModuleOp module, MeshAttr mesh, int64_t rowElements) : mesh(mesh) {
  if (rowElements <= 1)
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
  auto visit = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    ShardingAttr sharding = getSharding(value);
    if (!type || type.getRank() < 2 || !sharding || dims->isFixed(value, type.getRank() - 1))
      return;
    unsigned last = type.getRank() - 1;
    Row &row = found.try_emplace(dims->find(value, last), Row{type.getDimSize(last), 1}).first->second;
    row.shards = std::lcm(row.shards, mesh.getSize(sharding.getAxes(last)));
  };
  module.walk([&](KernelOpInterface op) {
    if (op.getKernelKind() != KernelKind::Gemm)
      return;
    llvm::for_each(op->getOperands(), visit);
    llvm::for_each(op->getResults(), visit);
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

void PaddedSizes::addLike(Value built, Value like) {
  if (dims)
    dims->join(like, built);
}

bool PaddedSizes::giveUpRows(Value value, unsigned dim) {
  return !rows.empty() && rows.erase(dims->find(value, dim)) > 0;
}
