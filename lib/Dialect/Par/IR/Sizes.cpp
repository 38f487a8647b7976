//===- Sizes.cpp - bytes and blocks of tensors, members of groups ---------------------------------------===//
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

int64_t par::getTensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bytes;
  bool overflows =
      llvm::MulOverflow<int64_t>(tensor.getNumElements(), ceilDiv(tensor.getElementTypeBitWidth(), 8), bytes);
  return overflows ? std::numeric_limits<int64_t>::max() : bytes;
}

int64_t par::getTensorBytes(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    if (llvm::AddOverflow(bytes, getTensorBytes(type), bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

int64_t par::getLocalBytes(Value value, MeshAttr mesh) {
  auto type = cast<RankedTensorType>(value.getType());
  ShardingAttr sharding = getSharding(value);
  return getTensorBytes(sharding && mesh ? sharding.getLocalType(type, mesh) : type);
}

int64_t par::getLocalBytes(Value value) {
  return getLocalBytes(value, getMesh(value.getParentRegion()->getParentOp()));
}

bool par::isOutermost(Type type, int64_t dim) {
  return llvm::all_of(cast<RankedTensorType>(type).getShape().take_front(dim),
                      [](int64_t size) { return size == 1; });
}

int64_t par::countMembers(CollectiveOpInterface collective, MeshAttr mesh) {
  int64_t members = 1;
  for (StringRef axis : collective.getCollectiveAxes())
    members *= mesh ? mesh.getSize(axis) : 1;
  return members;
}
