//===- Interfaces.cpp - defaults of par's interfaces ----------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

#include "par/Interfaces/Interfaces.cpp.inc"

double par::countResultElements(Operation *op) {
  double elements = 0;
  for (Value result : op->getResults())
    elements += static_cast<double>(cast<RankedTensorType>(result.getType()).getNumElements());
  return elements;
}

bool par::isElementwise(Operation *op) { return getOpClass(op) == OpClass::Elementwise; }

bool par::isSplatConstant(Operation *op) {
  DenseElementsAttr value;
  return matchPattern(op, m_Constant(&value)) && value.isSplat();
}

bool par::mayComputeAgain(Operation *op) { return isPure(op) && !op->hasTrait<ChosenOnce>(); }

bool par::isCheapToRecompute(Operation *op) {
  if (!mayComputeAgain(op))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() || OpTrait::hasElementwiseMappableTraits(op))
    return true;
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  return differentiable && differentiable.isCheapToRecompute();
}

bool par::hasFactorsOfResult(Operation *op, unsigned operand) {
  RuleAttr rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  return rule.getOperands()[operand] == rule.getResults()[0];
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

OpClass par::getOpClass(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getOpClass() : OpClass::Opaque;
}

KernelKind par::getKernelKind(OpClass opClass) {
  switch (opClass) {
  case OpClass::Opaque:
  case OpClass::Annotation:
    return KernelKind::None;
  case OpClass::Elementwise:
    return KernelKind::Elementwise;
  case OpClass::View:
    return KernelKind::View;
  case OpClass::Composite:
    return KernelKind::Composite;
  case OpClass::Library:
    return KernelKind::Library;
  case OpClass::Collective:
    return KernelKind::Collective;
  default:
    return KernelKind::Primitive;
  }
}

KernelKind par::getKernelKind(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getKernelKind() : KernelKind::None;
}

bool par::isCheapClass(OpClass opClass) {
  return opClass >= OpClass::Elementwise && opClass <= OpClass::Repeats;
}

bool par::keepsStepsOfClass(Operation *op, int64_t step) {
  auto isWhole = [&](Value value) { return getShape(value).empty() || getShape(value).back() % step == 0; };
  switch (getOpClass(op)) {
  case OpClass::Elementwise:
  case OpClass::Placed:
  case OpClass::Index:
  case OpClass::Repeats:
    return true;
  case OpClass::View:
  case OpClass::Joins:
    return llvm::all_of(op->getOperands(), isWhole) && llvm::all_of(op->getResults(), isWhole);
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Localizer
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> Localizer::clone() {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *local = builder.create(state);
  local->removeAttr(ParDialect::kShardingAttr);
  return SmallVector<Value>(local->getResults());
}

int64_t Localizer::getShards(int64_t factor) const { return mesh.getSize(factorAxes[factor]); }

Value Localizer::offset(int64_t factor, int64_t localSize) {
  Value index = buildAxisIndex(builder, op->getLoc(), mesh, factorAxes[factor]);
  Value size = buildSplat(builder, op->getLoc(), cast<RankedTensorType>(index.getType()), localSize);
  return builder.create<arith::MulIOp>(op->getLoc(), index, size);
}

Value Localizer::allReduce(ReduceKind kind, Value value, int64_t factor) {
  SmallVector<Attribute> axes(factorAxes[factor].begin(), factorAxes[factor].end());
  auto reduce = builder.create<AllReduceOp>(op->getLoc(), TypeRange{value.getType()}, kind,
                                            builder.getArrayAttr(axes), ValueRange{value});
  if (Attribute cause = op->getAttr(ParDialect::kCauseAttr))
    reduce->setAttr(ParDialect::kCauseAttr, cause);
  return reduce.getResult(0);
}

Value par::buildAxisIndex(OpBuilder &builder, Location loc, MeshAttr mesh, ArrayRef<StringAttr> axes) {
  auto type = RankedTensorType::get({}, builder.getI32Type());
  Value index;
  for (StringAttr axis : axes) {
    Value coordinate = builder.create<AxisIndexOp>(loc, type, axis);
    if (!index) {
      index = coordinate;
      continue;
    }
    Value size = buildSplat(builder, loc, type, mesh.getSize(axis.getValue()));
    index = builder.create<arith::AddIOp>(loc, builder.create<arith::MulIOp>(loc, index, size), coordinate);
  }
  return index ? index : buildSplat(builder, loc, type, 0);
}
