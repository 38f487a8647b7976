//===- ParDialect.cpp - registration and helpers of the par dialect -------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"

using namespace mlir;
using namespace mlir::par;

#include "par/Dialect/Par/IR/ParDialect.cpp.inc"

void ParDialect::initialize() {
  registerAttributes();
  registerDiscardable();
  registerOps();
}

void ParDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/StructureOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/ShardingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/CollectiveOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/EinsumOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/ShapeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/RowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/NormOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/RmsNormOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/ElementwiseOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/SoftmaxOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/RotaryOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/AttentionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/CrossEntropyOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/DropoutOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "par/Dialect/Par/IR/OptimizerOps.cpp.inc"
      >();
}

Operation *ParDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Mesh and shardings of values
//===----------------------------------------------------------------------===//

static MeshOp findMesh(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  if (!module)
    return nullptr;
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? nullptr : *meshes.begin();
}

MeshAttr par::getMesh(Operation *op) {
  MeshOp mesh = findMesh(op);
  return mesh ? mesh.getMesh() : nullptr;
}

StringRef par::getMeshName(Operation *op) {
  MeshOp mesh = findMesh(op);
  return mesh ? mesh.getSymName() : "mesh";
}

ShardingAttr par::getSharding(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto array = result.getOwner()->getAttrOfType<ArrayAttr>(ParDialect::kShardingAttr);
    return array ? dyn_cast<ShardingAttr>(array[result.getResultNumber()]) : nullptr;
  }
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function
             ? function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), ParDialect::kShardingAttr)
             : nullptr;
}

void par::setSharding(Value value, ShardingAttr sharding) {
  if (getSharding(value) == sharding)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    function.setArgAttr(argument.getArgNumber(), ParDialect::kShardingAttr, sharding);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> entries;
  if (auto array = op->getAttrOfType<ArrayAttr>(ParDialect::kShardingAttr))
    entries.assign(array.begin(), array.end());
  else
    for (Value each : op->getResults())
      entries.push_back(ShardingAttr::getReplicated(op->getContext(), getMeshName(op),
                                                    cast<RankedTensorType>(each.getType()).getRank(), true));
  entries[result.getResultNumber()] = sharding;
  op->setAttr(ParDialect::kShardingAttr, ArrayAttr::get(op->getContext(), entries));
}

ShardingAttr par::getResultSharding(func::FuncOp function, unsigned result) {
  return function.getResultAttrOfType<ShardingAttr>(result, ParDialect::kShardingAttr);
}

ShardingAttr par::getStateStorage(VariableOp parameter, Role role) {
  auto roles = parameter->getAttrOfType<DictionaryAttr>(ParDialect::kStateStorageAttr);
  return roles ? roles.getAs<ShardingAttr>(stringifyRole(role)) : ShardingAttr();
}

ShardingAttr par::getStorage(VariableOp variable) {
  return variable.getStorageAttr() ? variable.getStorageAttr() : variable.getComputeAttr();
}

bool par::isStoredAlike(VariableOp variable, VariableOp other) {
  ShardingAttr a = getStorage(variable), b = getStorage(other);
  bool equal = a && b ? a.getDims() == b.getDims() : a == b;
  return equal && variable.getTensorType() == other.getTensorType();
}

static DictionaryAttr with(DictionaryAttr attributes, StringRef name, Attribute value) {
  NamedAttrList list(attributes);
  list.set(name, value);
  return list.getDictionary(value.getContext());
}

void par::setArgumentAttrs(func::FuncOp function, StringRef name, ArrayRef<Attribute> values) {
  SmallVector<DictionaryAttr> dictionaries;
  for (auto [number, value] : llvm::enumerate(values))
    dictionaries.push_back(with(function_interface_impl::getArgAttrDict(function, number), name, value));
  function.setAllArgAttrs(dictionaries);
}

void par::setResultAttrs(func::FuncOp function, StringRef name, ArrayRef<Attribute> values) {
  SmallVector<DictionaryAttr> dictionaries;
  for (auto [number, value] : llvm::enumerate(values))
    dictionaries.push_back(with(function_interface_impl::getResultAttrDict(function, number), name, value));
  function.setAllResultAttrs(dictionaries);
}

Value par::buildSplat(OpBuilder &builder, Location loc, RankedTensorType type, double value) {
  Attribute element;
  if (auto floating = dyn_cast<FloatType>(type.getElementType()))
    element = builder.getFloatAttr(floating, value);
  else
    element = builder.getIntegerAttr(type.getElementType(), static_cast<int64_t>(value));
  return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, element));
}

Value par::convertFloat(OpBuilder &builder, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  unsigned from = type.getElementTypeBitWidth(), to = element.getIntOrFloatBitWidth();
  if (from == to) // bf16 and f16
    value = builder.create<arith::ExtFOp>(loc, type.clone(builder.getF32Type()), value);
  if (from < to)
    return builder.create<arith::ExtFOp>(loc, type.clone(element), value);
  return builder.create<arith::TruncFOp>(loc, type.clone(element), value);
}
