//===- ShardingOps.cpp - intent, change of sharding, coordinates ----------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ShardingOps.cpp.inc"

//===----------------------------------------------------------------------===//
// constrain
//===----------------------------------------------------------------------===//

LogicalResult ConstrainOp::verify() {
  auto emit = [&] { return emitOpError("constrain_c1: "); };
  return getSharding().verifyFor(emit, *this, getType().getRank());
}

RuleAttr ConstrainOp::getShardingRule() { return RuleBuilder::pointwise(*this, {{0}}); }

LogicalResult ConstrainOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                     InterpreterContext &) {
  results[0].values = operands[0].values;
  return success();
}

/// Dimensions only: whether a cotangent is replicated or unreduced follows from the ops that make it.
LogicalResult ConstrainOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (!needed[0] || !cotangents[0])
    return success();
  auto dims = ShardingAttr::get(getContext(), getSharding().getMesh(), getSharding().getDims(), {}, {});
  auto op = builder.create<ConstrainOp>(getLoc(), getType(), cotangents[0], dims);
  if (Attribute cause = (*this)->getAttr(ParDialect::kCauseAttr))
    op->setAttr(ParDialect::kCauseAttr, cause);
  operandCotangents[0] = op;
  return success();
}

/// It may be a collective, which recomputing would run again.

OpClass ConstrainOp::getOpClass() { return OpClass::Annotation; }

//===----------------------------------------------------------------------===//
// reshard
//===----------------------------------------------------------------------===//

LogicalResult ReshardOp::verify() {
  auto input = getInput().getType(), result = getType();
  auto emit = [&] { return emitOpError("reshard_c2: "); };
  bool valid = succeeded(getTarget().verifyFor(emit, *this, result.getRank()));
  if (input.getElementType() != result.getElementType() || input.getRank() != result.getRank())
    return emitOpError("reshard_c1: ") << input << " and " << result << " differ in element type or rank";
  if (getLogical() && static_cast<int64_t>(getLogical()->size()) != input.getRank())
    return emitOpError("reshard_c1: logical has ")
           << getLogical()->size() << " sizes, the operand has rank " << input.getRank();
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    int64_t from = input.getDimSize(dim), to = result.getDimSize(dim);
    int64_t logical = getLogical() ? (*getLogical())[dim] : std::max(from, to);
    if (logical <= std::min(from, to))
      continue;
    emitOpError("reshard_c1: sizes ")
        << from << " and " << to << " of dimension " << dim
        << (getLogical() ? " must hold the logical size " : " must be equal or hold ") << logical
        << (getLogical() ? "" : " (set `logical` where they are padded)");
    valid = false;
  }
  return success(valid);
}

RuleAttr ReshardOp::getShardingRule() { return RuleBuilder::pointwise(*this, {{0}}); }

/// On global values a change of sharding is a change of padding at most.
LogicalResult ReshardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  SmallVector<int64_t> shape(getLogical() ? ArrayRef<int64_t>(*getLogical()) : getType().getShape());
  SmallVector<int64_t> origin(shape.size(), 0);
  results[0] = Tensor(results[0].type);
  copyBlock(operands[0], origin, results[0], origin, shape);
  return success();
}

OpClass ReshardOp::getOpClass() { return OpClass::Opaque; }

//===----------------------------------------------------------------------===//
// axis_index
//===----------------------------------------------------------------------===//

LogicalResult AxisIndexOp::verify() {
  MeshAttr mesh = getMesh(*this);
  if (mesh && mesh.hasAxis(getAxis()))
    return success();
  InFlightDiagnostic diagnostic = emitOpError("axis_index_c1: axis \"")
                                  << getAxis() << "\" is not one of the mesh";
  if (mesh)
    diagnostic << " " << mesh;
  return diagnostic;
}

LogicalResult AxisIndexOp::interpret(ArrayRef<Tensor>, MutableArrayRef<Tensor> results,
                                     InterpreterContext &context) {
  results[0].values[0] = static_cast<double>(context.coordinate(getAxis()));
  return success();
}

OpClass AxisIndexOp::getOpClass() { return OpClass::Index; }

bool AxisIndexOp::usesCoordinates() { return true; }

FailureOr<Value> AxisIndexOp::emitElement(ElementBuilder &b, ArrayRef<Value>) {
  return b.getCoordinate(getAxis());
}

//===----------------------------------------------------------------------===//
// transfer
//===----------------------------------------------------------------------===//

LogicalResult TransferOp::verify() {
  if (!(*this)->hasAttr(ParDialect::kStartedAttr) || endsInOneWait(*this))
    return success();
  return emitOpError(
      "transfer_c1: is started, so its result must be the operand of one par.wait of its block "
      "and of nothing else");
}

RuleAttr TransferOp::getShardingRule() { return RuleBuilder::pointwise(*this, {{0}}); }

LogicalResult TransferOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                    InterpreterContext &) {
  results[0].values = operands[0].values;
  return success();
}

/// The cotangent goes back to where the operand came from: the device, unless another transfer says
/// otherwise.
LogicalResult TransferOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                        SmallVectorImpl<Value> &operandCotangents) {
  if (!needed[0] || !cotangents[0])
    return success();
  auto source = getInput().getDefiningOp<TransferOp>();
  MemorySpace space = source ? source.getSpace() : MemorySpace::Device;
  operandCotangents[0] = builder.create<TransferOp>(getLoc(), getType(), cotangents[0], space);
  return success();
}

OpClass TransferOp::getOpClass() { return OpClass::Opaque; }
