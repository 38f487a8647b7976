//===- CollectiveSemantics.cpp - exchange of data between ranks: meaning and cost -----------------------===//
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

using GroupOperands = ArrayRef<ArrayRef<Tensor>>;
using GroupResults = ArrayRef<MutableArrayRef<Tensor>>;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> getAxisNames(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsValueRange<StringAttr>());
}

static double getBytes(TypeRange types) { return static_cast<double>(getTensorBytes(types)); }

/// Bytes that a ring of `n` moves per rank to bring a tensor of `bytes` from or to all.
static double ringBytes(double bytes, int64_t n) {
  return bytes * static_cast<double>(n - 1) / static_cast<double>(n);
}

static double reduceElement(ReduceKind kind, double a, double b) {
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Max:
    return std::max(a, b);
  case ReduceKind::Min:
    return std::min(a, b);
  }
  llvm_unreachable("unknown ReduceKind");
}

/// Tensor `index` of all members reduced in the order of the members.
static Tensor reduceMembers(GroupOperands operands, unsigned index, ReduceKind kind) {
  Tensor total = operands[0][index];
  for (ArrayRef<Tensor> member : operands.drop_front())
    for (auto [sum, value] : llvm::zip(total.values, member[index].values))
      sum = reduceElement(kind, sum, value);
  return total;
}

/// Block `number` along `dim` of `from`, as large as `to`.
static void takeBlock(const Tensor &from, int64_t dim, int64_t number, Tensor &to) {
  SmallVector<int64_t> origin(from.rank(), 0), offsets(from.rank(), 0);
  offsets[dim] = number * to.shape()[dim];
  copyBlock(from, offsets, to, origin, to.shape());
}

/// Tensor `index` of all members, one after the other along `dim`.
static void concatenate(GroupOperands operands, unsigned index, int64_t dim, Tensor &to) {
  SmallVector<int64_t> origin(to.rank(), 0), offsets(to.rank(), 0);
  for (ArrayRef<Tensor> member : operands) {
    const Tensor &from = member[index];
    copyBlock(from, origin, to, offsets, from.shape());
    offsets[dim] += from.shape()[dim];
  }
}

/// Calls `visit(member, index, result)` for every result of every member.
static void forEachResult(GroupResults results, llvm::function_ref<void(int64_t, unsigned, Tensor &)> visit) {
  for (auto [member, tensors] : llvm::enumerate(results))
    for (auto [index, tensor] : llvm::enumerate(tensors))
      visit(static_cast<int64_t>(member), index, tensor);
}

//===----------------------------------------------------------------------===//
// all_reduce, reduce_scatter, reduce_to
//===----------------------------------------------------------------------===//

SmallVector<StringRef> AllReduceOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef AllReduceOp::getCollectiveKind() { return "all_reduce"; }
OpClass AllReduceOp::getOpClass() { return OpClass::Collective; }
double AllReduceOp::getWireBytes(int64_t n) { return 2 * ringBytes(getBytes(getOperandTypes()), n); }

LogicalResult AllReduceOp::interpretGroup(GroupOperands operands, GroupResults results) {
  for (unsigned index = 0; index < getNumOperands(); ++index) {
    Tensor total = reduceMembers(operands, index, getKind());
    for (MutableArrayRef<Tensor> member : results)
      member[index].values = total.values;
  }
  return success();
}

SmallVector<StringRef> ReduceScatterOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef ReduceScatterOp::getCollectiveKind() { return "reduce_scatter"; }
OpClass ReduceScatterOp::getOpClass() { return OpClass::Collective; }
double ReduceScatterOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getOperandTypes()), n); }

LogicalResult ReduceScatterOp::interpretGroup(GroupOperands operands, GroupResults results) {
  for (unsigned index = 0; index < getNumOperands(); ++index) {
    Tensor total = reduceMembers(operands, index, ReduceKind::Sum);
    for (auto [number, member] : llvm::enumerate(results))
      takeBlock(total, getDim(), number, member[index]);
  }
  return success();
}

SmallVector<StringRef> ReduceToOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef ReduceToOp::getCollectiveKind() { return "reduce_to"; }
OpClass ReduceToOp::getOpClass() { return OpClass::Collective; }
double ReduceToOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getOperandTypes()), n); }

LogicalResult ReduceToOp::interpretGroup(GroupOperands operands, GroupResults results) {
  forEachResult(results, [&](int64_t member, unsigned index, Tensor &result) {
    result = static_cast<uint64_t>(member) == getRoot() ? reduceMembers(operands, index, ReduceKind::Sum)
                                                        : Tensor(result.type);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// all_gather, gather
//===----------------------------------------------------------------------===//

SmallVector<StringRef> AllGatherOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef AllGatherOp::getCollectiveKind() { return "all_gather"; }
OpClass AllGatherOp::getOpClass() { return OpClass::Collective; }
double AllGatherOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getResultTypes()), n); }

LogicalResult AllGatherOp::interpretGroup(GroupOperands operands, GroupResults results) {
  forEachResult(results, [&](int64_t, unsigned index, Tensor &result) {
    concatenate(operands, index, getDim(), result);
  });
  return success();
}

SmallVector<StringRef> GatherOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef GatherOp::getCollectiveKind() { return "gather"; }
OpClass GatherOp::getOpClass() { return OpClass::Collective; }
double GatherOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getResultTypes()), n); }

LogicalResult GatherOp::interpretGroup(GroupOperands operands, GroupResults results) {
  forEachResult(results, [&](int64_t member, unsigned index, Tensor &result) {
    result = Tensor(result.type);
    if (static_cast<uint64_t>(member) == getRoot())
      concatenate(operands, index, getDim(), result);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// scatter, collective_broadcast, permute, all_to_all
//===----------------------------------------------------------------------===//

SmallVector<StringRef> ScatterOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef ScatterOp::getCollectiveKind() { return "scatter"; }
OpClass ScatterOp::getOpClass() { return OpClass::Collective; }
double ScatterOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getOperandTypes()), n); }

LogicalResult ScatterOp::interpretGroup(GroupOperands operands, GroupResults results) {
  forEachResult(results, [&](int64_t member, unsigned index, Tensor &result) {
    takeBlock(operands[getRoot()][index], getDim(), member, result);
  });
  return success();
}

SmallVector<StringRef> CollectiveBroadcastOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef CollectiveBroadcastOp::getCollectiveKind() { return "collective_broadcast"; }
OpClass CollectiveBroadcastOp::getOpClass() { return OpClass::Collective; }
double CollectiveBroadcastOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getOperandTypes()), n); }

LogicalResult CollectiveBroadcastOp::interpretGroup(GroupOperands operands, GroupResults results) {
  forEachResult(results, [&](int64_t, unsigned index, Tensor &result) {
    result.values = operands[getRoot()][index].values;
  });
  return success();
}

SmallVector<StringRef> PermuteOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef PermuteOp::getCollectiveKind() { return "permute"; }
OpClass PermuteOp::getOpClass() { return OpClass::Collective; }
double PermuteOp::getWireBytes(int64_t) { return getBytes(getOperandTypes()); }

LogicalResult PermuteOp::interpretGroup(GroupOperands operands, GroupResults results) {
  forEachResult(results, [&](int64_t, unsigned, Tensor &result) { result = Tensor(result.type); });
  for (auto [member, target] : llvm::enumerate(getPermutation()))
    for (unsigned index = 0; target >= 0 && index < getNumOperands(); ++index)
      results[target][index].values = operands[member][index].values;
  return success();
}

SmallVector<StringRef> AllToAllOp::getCollectiveAxes() { return getAxisNames(getAxes()); }
StringRef AllToAllOp::getCollectiveKind() { return "all_to_all"; }
OpClass AllToAllOp::getOpClass() { return OpClass::Collective; }
double AllToAllOp::getWireBytes(int64_t n) { return ringBytes(getBytes(getOperandTypes()), n); }

LogicalResult AllToAllOp::interpretGroup(GroupOperands operands, GroupResults results) {
  int64_t n = static_cast<int64_t>(operands.size());
  forEachResult(results, [&](int64_t member, unsigned index, Tensor &result) {
    for (int64_t sender = 0; sender < n; ++sender) {
      const Tensor &from = operands[sender][index];
      SmallVector<int64_t> block(from.shape()), fromOffsets(from.rank(), 0), toOffsets(from.rank(), 0);
      block[getSplit()] /= n;
      fromOffsets[getSplit()] = member * block[getSplit()];
      toOffsets[getConcat()] = sender * block[getConcat()];
      copyBlock(from, fromOffsets, result, toOffsets, block);
    }
  });
  return success();
}

//===----------------------------------------------------------------------===//
// all_slice
//===----------------------------------------------------------------------===//

LogicalResult AllSliceOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                    InterpreterContext &context) {
  MeshAttr mesh = getMesh(*this);
  int64_t member = 0;
  for (StringRef axis : getAxes().getAsValueRange<StringAttr>())
    member = member * mesh.getSize(axis) + context.coordinate(axis);
  takeBlock(operands[0], getDim(), member, results[0]);
  return success();
}

OpClass AllSliceOp::getOpClass() { return OpClass::Slices; }

bool AllSliceOp::usesCoordinates() { return true; }

bool AllSliceOp::keepsSteps(int64_t step) {
  return getShape(getInput()).back() % step == 0 && getShape(getResult()).back() % step == 0;
}

FailureOr<Value> AllSliceOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  int64_t dim = getDim(), local = getShape(getResult())[dim];
  Value coordinate = b.constantIndex(0);
  MeshAttr mesh = getMesh(*this);
  for (StringRef axis : getAxes().getAsValueRange<StringAttr>()) {
    coordinate = b.create<arith::MulIOp>(coordinate, b.constantIndex(mesh.getSize(axis)));
    coordinate = b.create<arith::AddIOp>(coordinate, b.toIndex(b.getCoordinate(axis)));
  }
  Index source(index);
  Value start = b.create<arith::MulIOp>(coordinate, b.constantIndex(local));
  source[dim] = b.create<arith::AddIOp>(index[dim], start);
  return b.evaluate(getInput(), source);
}

/// What is started has its values at once here: nobody but the wait may see them.
LogicalResult WaitOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                InterpreterContext &) {
  for (auto [operand, result] : llvm::zip(operands, results))
    result.values = operand.values;
  return success();
}
