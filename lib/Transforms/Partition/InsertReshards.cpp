//===- InsertReshards.cpp - makes every change of sharding explicit -------------------------------------===//
#include "Causes.h"
#include "HandedOver.h"
#include "PartialSums.h"
#include "SharedAccumulators.h"
#include "StorageReshards.h"
#include "par/Dialect/Par/IR/CallGraph.h"
#include "par/Target/Target.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_INSERTRESHARDS
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Settles the dimensions of one function: every op gets one assignment of axes to factors.
class DimensionSettler {
public:
  DimensionSettler(func::FuncOp function, const SymbolTable &symbols, MeshAttr mesh, double flopsPerByte)
      : function(function), symbols(symbols), mesh(mesh), meshName(getMeshName(function)),
        flopsPerByte(flopsPerByte) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.front())
      ops.push_back(&op);
    for (Operation *op : ops)
      if (failed(visit(op)))
        return failure();
    return success();
  }

private:
  LogicalResult visit(Operation *op) {
    if (auto constrain = dyn_cast<ConstrainOp>(op))
      return visitConstrain(constrain);
    if (auto call = dyn_cast<CallOp>(op))
      return visitCall(call);
    if (auto exit = dyn_cast<func::ReturnOp>(op))
      return visitReturn(exit);
    if (auto rule = dyn_cast<ShardingRuleOpInterface>(op))
      return visitRule(op, rule.getShardingRule());
    return op->emitOpError(
        "par-insert-reshards: the op has no sharding rule; implement ShardingRuleOpInterface");
  }

  /// A value in another sharding; asked twice, it is resharded once.
  void reshardOperand(Operation *op, unsigned number, ShardingAttr target) {
    Value value = op->getOperand(number);
    ShardingAttr from = getSharding(value);
    if (from.getDims() == target.getDims())
      return;
    Value &known = reshards[{value, target}];
    if (!known) {
      OpBuilder builder(op);
      auto reshard = builder.create<ReshardOp>(op->getLoc(), value.getType(), value, target, nullptr);
      reshard->setAttr(ParDialect::kCauseAttr,
                       builder.getStringAttr(describeOperand(op, number, from, target)));
      setSharding(reshard.getResult(), target);
      known = reshard.getResult();
    }
    op->setOperand(number, known);
  }

  /// The op gives `natural` where `declared` was wanted by propagation: users see the declared one.
  void reshardResult(OpResult result, ShardingAttr natural) {
    ShardingAttr declared = getSharding(result);
    setSharding(result, natural);
    if (natural.getDims() == declared.getDims() || result.use_empty())
      return;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(result.getOwner());
    auto op = builder.create<ReshardOp>(result.getLoc(), result.getType(), result, declared, nullptr);
    op->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(describeResult(result, declared)));
    setSharding(op.getResult(), declared);
    result.replaceAllUsesExcept(op.getResult(), op);
  }

  LogicalResult visitConstrain(ConstrainOp constrain) {
    ShardingAttr target = getSharding(constrain.getResult());
    OpBuilder builder(constrain);
    // Also where dimensions agree: a constrained value is no partial sum.
    auto op = builder.create<ReshardOp>(constrain.getLoc(), constrain.getType(), constrain.getInput(), target,
                                        nullptr);
    op->setAttr(ParDialect::kCauseAttr, builder.getStringAttr("par.constrain"));
    setSharding(op.getResult(), target);
    op->setAttr(ParDialect::kCompleteAttr, builder.getUnitAttr());
    if (Attribute cause = constrain->getAttr(ParDialect::kCauseAttr))
      op->setAttr(ParDialect::kCauseAttr, cause);
    constrain.replaceAllUsesWith(op.getResult());
    constrain.erase();
    return success();
  }

  LogicalResult visitCall(CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    for (auto [number, argument] : llvm::enumerate(callee.getArguments()))
      reshardOperand(call, number, getSharding(argument).withUnreduced({}));
    for (OpResult result : call->getResults())
      reshardResult(result, getResultSharding(callee, result.getResultNumber()).withUnreduced({}));
    return success();
  }

  LogicalResult visitReturn(func::ReturnOp exit) {
    for (unsigned number = 0; number < exit.getNumOperands(); ++number)
      reshardOperand(exit, number, getResultSharding(function, number));
    return success();
  }

  LogicalResult visitRule(Operation *op, RuleAttr rule) {
    for (Value result : op->getResults())
      if (!getSharding(result))
        return op->emitOpError(
            "par-insert-reshards: a result has no sharding; run par-propagate-shardings first");
    ShardedOp sharded =
        describeOp(op, rule, mesh, flopsPerByte, [](Value value) { return getDimAxes(getSharding(value)); });
    FactorAxes factors = assignFactors(sharded);
    for (unsigned number = 0; number < op->getNumOperands(); ++number)
      reshardOperand(
          op, number,
          makeSharding(op->getContext(), meshName, projectFactors(rule.getOperands()[number], factors)));
    for (OpResult result : op->getResults())
      reshardResult(result,
                    makeSharding(op->getContext(), meshName,
                                 projectFactors(rule.getResults()[result.getResultNumber()], factors)));
    return success();
  }

  func::FuncOp function;
  const SymbolTable &symbols;
  MeshAttr mesh;
  StringRef meshName;
  double flopsPerByte;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> reshards;
};

struct InsertReshards : par::impl::InsertReshardsBase<InsertReshards> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshAttr mesh = getMesh(module);
    if (!mesh) {
      module.emitError("par-insert-reshards: the module has no par.mesh; run par-set-mesh first");
      return signalPassFailure();
    }
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    double flopsPerByte = target->rates.getFlopsPerByte();
    matchHandedOver(module);
    SymbolTable symbols(module);
    VariableSums sums;
    SumCauses causes;
    SmallVector<func::FuncOp> functions = getCalleesFirst(symbols, module), waiting;
    SharedAccumulators shared(functions, symbols);
    for (func::FuncOp function : functions) {
      if (failed(requireShardings(function)) ||
          failed(DimensionSettler(function, symbols, mesh, flopsPerByte).run()))
        return signalPassFailure();
      // Only here, so that what decides how ops are partitioned saw compute shardings alone.
      addStorageReshards(function, symbols);
      composeReshards(function, mesh);
      if (shared.accesses(function))
        waiting.push_back(function);
      else
        sumPending(PartialSums(function, symbols, mesh, sums, causes), function);
    }
    VariableSums limits = shared.agree(symbols, mesh, sums, causes);
    // What writes an accumulator comes before what reads it.
    std::stable_partition(waiting.begin(), waiting.end(),
                          [&](func::FuncOp function) { return shared.writes(function); });
    for (func::FuncOp function : waiting)
      sumPending(PartialSums(function, symbols, mesh, sums, causes, limits), function);
    for (auto variable : module.getOps<VariableOp>())
      if (auto found = sums.find(variable.getSymName().str()); found != sums.end())
        setUnreduced(variable, found->second);
  }

  static void sumPending(PartialSums pending, func::FuncOp function) {
    pending.solve();
    pending.apply();
    scatterAtDefinition(function);
    removeIdentities(function);
  }

  /// A variable holds partial sums as the functions hand them over: in its storage.
  static void setUnreduced(VariableOp variable, const Axes &axes) {
    if (!variable.getStorageAttr())
      return variable.setComputeAttr(variable.getComputeAttr().withUnreduced(axes));
    variable.setStorageAttr(variable.getStorageAttr().withUnreduced(axes));
  }

  /// A sum that goes into parts is reduced where it is made: the whole of it is given up at once, and what a
  /// layer returns is reduced together.
  static void scatterAtDefinition(func::FuncOp function) {
    llvm::DenseMap<Operation *, Operation *> last; // by op, behind which reshards of its results stand
    for (auto reshard : llvm::make_early_inc_range(function.front().getOps<ReshardOp>())) {
      Operation *definition = reshard.getInput().getDefiningOp();
      ShardingAttr source = getSharding(reshard.getInput()), target = reshard.getTarget();
      bool scatters = llvm::any_of(source.getUnreduced(), [&](StringAttr axis) {
        return llvm::is_contained(target.getShardedAxes(), axis);
      });
      if (!definition || !scatters || !reshard.getInput().hasOneUse())
        continue;
      Operation *&behind = last.try_emplace(definition, definition).first->second;
      reshard->moveAfter(behind);
      behind = reshard;
    }
  }

  LogicalResult requireShardings(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (!getSharding(argument))
        return function.emitError("par-insert-reshards: argument ")
               << argument.getArgNumber() << " has no sharding; run par-propagate-shardings first";
    return success();
  }

  static void removeIdentities(func::FuncOp function) {
    for (auto reshard : llvm::make_early_inc_range(function.front().getOps<ReshardOp>()))
      if (getSharding(reshard.getInput()) == reshard.getTarget()) {
        reshard.replaceAllUsesWith(reshard.getInput());
        reshard.erase();
      } else if (reshard.use_empty()) {
        reshard.erase();
      }
  }
};
} // namespace
