//===- ConstantValues.cpp - values that no input changes ------------------------------------------------===//
#include "ConstantValues.h"
#include "par/Dialect/Par/IR/CallGraph.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Callers::Callers(ModuleOp module) {
  SymbolTable symbols(module);
  calleesFirst = par::getCalleesFirst(symbols, module);
  for (func::FuncOp function : calleesFirst)
    for (auto call : function.getOps<par::CallOp>())
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee())) {
        calls[callee].push_back(call);
        callees[call] = callee;
      }
}

ArrayRef<par::CallOp> Callers::getCalls(func::FuncOp callee) const {
  auto found = calls.find(callee);
  return found == calls.end() ? ArrayRef<par::CallOp>() : ArrayRef(found->second);
}

bool Callers::isOverwritten(func::FuncOp callee, unsigned operand) {
  for (unsigned result = 0; result < callee.getNumResults(); ++result)
    if (getAlias(callee, result) == operand)
      return true;
  return false;
}

bool Callers::isOverwritten(par::CallOp call, unsigned operand) const {
  func::FuncOp callee = callees.lookup(call);
  return !callee || isOverwritten(callee, operand);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Ops whose results depend on their operands and the rank alone, and can be made anywhere.
static bool isCopied(Operation *op) {
  // A constant that is no splat is data.
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isSplatConstant(op);
  switch (getOpClass(op)) {
  case OpClass::Elementwise:
  case OpClass::Index:
  case OpClass::View:
  case OpClass::Joins:
  case OpClass::Repeats:
  case OpClass::Composite:
    return mayComputeAgain(op);
  default:
    return false;
  }
}

bool ConstantValues::contains(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return contains(argument);
  Operation *op = value.getDefiningOp();
  return isCopied(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return contains(operand); });
}

bool ConstantValues::contains(BlockArgument argument) const {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  // The next call of several parts finds what this one has left where it writes a result.
  if (!function || getPhase(function) || callers.getCalls(function).empty() ||
      Callers::isOverwritten(function, number))
    return false;
  return llvm::all_of(callers.getCalls(function), [&](par::CallOp call) {
    Value operand = call.getInputs()[number];
    return operand.getType() == argument.getType() && contains(operand);
  });
}

Value ConstantValues::copy(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copy(operand, builder, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static std::optional<Sequence> makeSequence(Attribute value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat() || !(dense.getElementType().isInteger(32) || dense.getElementType().isF32()))
    return std::nullopt;
  return Sequence{cast<TypedAttr>(dense.getSplatValue<Attribute>())};
}

/// What a value of splats alone comes to.
static Attribute fold(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(fold(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  // An operand that is the result is known, too.
  if (auto same = dyn_cast<Value>(results.front()))
    return same == value ? Attribute() : fold(same);
  return cast<Attribute>(results.front());
}

std::optional<Sequence> par::findSequence(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto iota = value.getDefiningOp<IotaOp>();
  if (iota && type.getRank() == 1 && type.getElementType().isInteger(32))
    return Sequence{IntegerAttr::get(type.getElementType(), 0), 1};
  return makeSequence(fold(value));
}
