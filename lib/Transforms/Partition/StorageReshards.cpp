//===- StorageReshards.cpp - between how variables lie and how functions see them -----------------------===//
#include "StorageReshards.h"
#include "PartialSums.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Sharding/ReshardCost.h"

using namespace mlir;
using namespace mlir::par;

/// The dimensions of the storage of the variable that `bind` names, null where it has none of its own.
static ShardingAttr getBoundStorage(FlatSymbolRefAttr bind, const SymbolTable &symbols) {
  auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : VariableOp();
  return variable && variable.getStorageAttr() ? variable.getStorageAttr().withUnreduced({}) : ShardingAttr();
}

static Value reshard(OpBuilder &builder, Location loc, Value value, ShardingAttr target,
                     const std::string &cause) {
  auto op = builder.create<ReshardOp>(loc, value.getType(), value, target, nullptr);
  op->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(cause));
  setSharding(op.getResult(), target);
  return op.getResult();
}

static std::string describe(StringRef what, Attribute bind, ShardingAttr storage, ShardingAttr compute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto printDims = [&](ShardingAttr sharding) {
    stream << "[";
    llvm::interleaveComma(sharding.getDims(), stream, [&](DimShardingAttr dim) {
      stream << "{";
      llvm::interleaveComma(dim.getAxes(), stream, [&](StringAttr axis) { stream << axis.getValue(); });
      stream << "}";
    });
    stream << "]";
  };
  stream << what << bind << ", stored as ";
  printDims(storage);
  stream << " and computed with as ";
  printDims(compute);
  return text;
}

/// The op of the function's block before which a value is needed.
static Operation *findFirstUser(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  return first;
}

/// Returns how the argument lies afterwards.
static ShardingAttr readFromStorage(BlockArgument argument, const SymbolTable &symbols) {
  FlatSymbolRefAttr bind = getVariable(argument);
  ShardingAttr storage = getBoundStorage(bind, symbols), compute = getSharding(argument);
  if (!storage || storage.getDims() == compute.getDims())
    return compute;
  if (Operation *first = findFirstUser(argument)) {
    OpBuilder builder(first);
    Value read =
        reshard(builder, first->getLoc(), argument, compute, describe("read of ", bind, storage, compute));
    argument.replaceAllUsesExcept(read, read.getDefiningOp());
  }
  return storage;
}

/// Returns how the result lies afterwards.
static ShardingAttr writeToStorage(func::FuncOp function, unsigned result, const SymbolTable &symbols) {
  FlatSymbolRefAttr bind = getResultVariable(function, result);
  ShardingAttr storage = getBoundStorage(bind, symbols), compute = getResultSharding(function, result);
  if (!storage || storage.getDims() == compute.getDims())
    return compute;
  Operation *exit = function.front().getTerminator();
  OpBuilder builder(exit);
  exit->setOperand(result, reshard(builder, exit->getLoc(), exit->getOperand(result), storage,
                                   describe("write of ", bind, storage, compute)));
  return storage;
}

void par::addStorageReshards(func::FuncOp function, const SymbolTable &symbols) {
  SmallVector<Attribute> arguments, results;
  for (BlockArgument argument : function.getArguments())
    arguments.push_back(readFromStorage(argument, symbols));
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    results.push_back(writeToStorage(function, result, symbols));
  setArgumentAttrs(function, ParDialect::kShardingAttr, arguments);
  setResultAttrs(function, ParDialect::kShardingAttr, results);
}

void par::composeReshards(func::FuncOp function, MeshAttr mesh) {
  for (auto outer : llvm::make_early_inc_range(function.front().getOps<ReshardOp>())) {
    auto inner = outer.getInput().getDefiningOp<ReshardOp>();
    if (!inner)
      continue;
    ShardingAttr source = getSharding(inner.getInput()), target = outer.getTarget();
    // What is read from a variable is no partial sum, so nothing is reduced twice.
    bool isFree = isa<BlockArgument>(inner.getInput()) &&
                  getReshardBytes(inner.getType(), getDimAxes(source), {}, getDimAxes(target), mesh) == 0;
    if (!inner->hasOneUse() && !isFree)
      continue;
    outer.setOperand(inner.getInput());
    if (inner->hasAttr(ParDialect::kCompleteAttr))
      outer->setAttr(ParDialect::kCompleteAttr, inner->getAttr(ParDialect::kCompleteAttr));
    if (inner.use_empty())
      inner.erase();
  }
}
