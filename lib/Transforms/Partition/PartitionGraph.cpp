//===- PartitionGraph.cpp - writes what one rank does ---------------------------------------------------===//
#include "Causes.h"
#include "ReshardLowering.h"
#include "par/Dialect/Par/IR/CallGraph.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_PARTITIONGRAPH
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Rewrites the body of one function into a block of local ops.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh), builder(function) {}

  LogicalResult run() {
    Block *global = &function.front();
    Block *local = new Block();
    function.getBody().push_back(local);
    builder.setInsertionPointToEnd(local);
    SmallVector<Type> arguments, results;
    for (BlockArgument argument : global->getArguments()) {
      arguments.push_back(localType(argument.getType(), getSharding(argument)));
      mapping.map(argument, local->addArgument(arguments.back(), argument.getLoc()));
    }
    for (Operation &op : *global)
      if (failed(visit(&op)))
        return failure();
    for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
      results.push_back(localType(type, getResultSharding(function, number)));
    global->dropAllReferences();
    global->erase();
    function.setFunctionType(FunctionType::get(function.getContext(), arguments, results));
    function->setAttr(ParDialect::kLocalAttr, builder.getUnitAttr());
    return success();
  }

private:
  RankedTensorType localType(Type type, ShardingAttr sharding) {
    return sharding.getLocalType(cast<RankedTensorType>(type), mesh);
  }

  SmallVector<Value> mapOperands(Operation *op) {
    return llvm::map_to_vector(op->getOperands(), [&](Value operand) { return mapping.lookup(operand); });
  }

  LogicalResult visit(Operation *op) {
    if (auto exit = dyn_cast<func::ReturnOp>(op)) {
      builder.create<func::ReturnOp>(op->getLoc(), mapOperands(op));
      return success();
    }
    if (auto call = dyn_cast<CallOp>(op)) {
      SmallVector<Type> types;
      for (Value result : call.getOutputs())
        types.push_back(localType(result.getType(), getSharding(result)));
      auto local = builder.create<CallOp>(op->getLoc(), types, call.getCallee(), mapOperands(op));
      mapping.map(call.getOutputs(), local.getOutputs());
      return success();
    }
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      mapping.map(reshard.getResult(),
                  ReshardLowering(builder, reshard, mesh, mapping.lookup(reshard.getInput())).run());
      return success();
    }
    return visitRule(op);
  }

  LogicalResult visitRule(Operation *op) {
    auto interface = dyn_cast<ShardingRuleOpInterface>(op);
    if (!interface || isa<ConstrainOp>(op))
      return op->emitOpError(
          "par-partition: the op cannot be partitioned; par-insert-reshards should have removed it");
    RuleAttr rule = interface.getShardingRule();
    if (failed(rule.verifyFor(op)))
      return failure();
    SmallVector<ShardingAttr> operands, results;
    for (Value operand : op->getOperands())
      operands.push_back(getSharding(operand));
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      results.push_back(getSharding(result));
      types.push_back(localType(result.getType(), results.back()));
    }
    FactorAxes factors = readFactors(rule, operands, results);
    SmallVector<Value> inputs = mapOperands(op);
    Localizer localizer(builder, op, rule, mesh, inputs, types, factors);
    Operation *before = builder.getBlock()->empty() ? nullptr : &builder.getBlock()->back();
    FailureOr<SmallVector<Value>> local = interface.localize(localizer);
    nameCauses(op, before);
    if (failed(local))
      return op->emitOpError("par-partition: localize failed for ") << rule;
    for (auto [result, value, type] : llvm::zip(op->getResults(), *local, types)) {
      if (value.getType() != type)
        return op->emitOpError("par-partition: localize gave ") << value.getType() << ", expected " << type;
      mapping.map(result, value);
      if (Operation *definition = value.getDefiningOp())
        definition->removeAttr(ParDialect::kShardingAttr);
    }
    return success();
  }

  /// Collectives that `localize` wrote after `before` are there for the op.
  void nameCauses(Operation *op, Operation *before) {
    Block::iterator first = before ? std::next(before->getIterator()) : builder.getBlock()->begin();
    for (Operation &made : llvm::make_range(first, builder.getBlock()->end()))
      if (isa<CollectiveOpInterface>(made) && !made.hasAttr(ParDialect::kCauseAttr))
        made.setAttr(ParDialect::kCauseAttr, builder.getStringAttr(describeLocal(op)));
  }

  func::FuncOp function;
  MeshAttr mesh;
  OpBuilder builder;
  IRMapping mapping;
};

struct PartitionGraph : par::impl::PartitionGraphBase<PartitionGraph> {
  using PartitionGraphBase::PartitionGraphBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshAttr mesh = getMesh(module);
    if (!mesh) {
      module.emitError("par-partition: the module has no par.mesh; run par-set-mesh first");
      return signalPassFailure();
    }
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(ParDialect::kLocalAttr))
        continue;
      if (failed(FunctionPartitioner(function, mesh).run()))
        return signalPassFailure();
      function.walk([](Operation *op) { op->removeAttr(ParDialect::kOriginAttr); });
    }
    if (!explain)
      return;
    llvm::DenseSet<Operation *> untrained = getUntrained(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (!untrained.contains(function))
        function.walk([&](CollectiveOpInterface collective) { remark(collective, mesh); });
  }

  /// Functions that only evaluation reaches: their collectives are those of the forward functions again.
  static llvm::DenseSet<Operation *> getUntrained(ModuleOp module) {
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> evaluating, training;
    for (auto function : module.getOps<func::FuncOp>())
      if (PhaseAttr phase = getPhase(function))
        (isEvaluation(phase.getPhase()) ? evaluating : training).push_back(function);
    llvm::DenseSet<Operation *> untrained;
    for (func::FuncOp function : getCalleesFirst<CallOp, func::FuncOp>(symbols, evaluating))
      untrained.insert(function);
    for (func::FuncOp function : getCalleesFirst<CallOp, func::FuncOp>(symbols, training))
      untrained.erase(function);
    return untrained;
  }

  static void remark(CollectiveOpInterface collective, MeshAttr mesh) {
    int64_t members = countMembers(collective, mesh);
    InFlightDiagnostic diagnostic = collective->emitRemark(collective.getCollectiveKind());
    diagnostic << " over ";
    llvm::interleave(
        collective.getCollectiveAxes(), [&](StringRef axis) { diagnostic << axis; },
        [&] { diagnostic << "+"; });
    diagnostic << ", " << static_cast<int64_t>(collective.getWireBytes(members)) << " bytes per rank";
    if (auto cause = collective->getAttrOfType<StringAttr>(ParDialect::kCauseAttr))
      diagnostic << ": " << cause.getValue();
  }
};
} // namespace
