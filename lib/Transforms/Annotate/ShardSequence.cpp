//===- ShardSequence.cpp - sequence parallelism between tensor-parallel products ------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Plan/Axes.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/Transforms/Annotate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_SHARDSEQUENCE
#include "par/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// Follows the sequence dimension and parameters from chunk functions into layers, and writes constraints.
class SequenceSharder {
public:
  SequenceSharder(ModuleOp module, MeshAttr mesh)
      : module(module), symbols(module), builder(module.getContext()), meshName(getMeshName(module)),
        tensor(mesh.getAxes(AxisRole::Tensor)), whole(mesh.getAxes(AxisRole::Sequence)), split(whole) {
    llvm::append_range(split, tensor);
  }

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isPrivate() && !function.isExternal()) {
        seedChunk(function);
        visit(function);
      }
    for (Operation *op : users)
      constrainAround(op);
  }

private:
  //===--------------------------------------------------------------------===//
  // What is a sequence, what a parameter
  //===--------------------------------------------------------------------===//

  void seedChunk(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (auto names = function.getArgAttrOfType<ArrayAttr>(number, ParDialect::kDimsAttr))
        for (auto [dim, name] : llvm::enumerate(names.getAsValueRange<StringAttr>()))
          if (name == "seq")
            sequences[argument] = dim;
      FlatSymbolRefAttr bind = getVariable(function, number);
      auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : VariableOp();
      if (variable && variable.getRole() == Role::Parameter)
        parameters[argument] = variable.getComputeAttr();
    }
  }

  void visit(func::FuncOp function) {
    if (!visited.insert(function).second)
      return;
    for (Operation &op : function.front()) {
      if (auto call = dyn_cast<CallOp>(op)) {
        visitCall(call);
      } else if (auto rule = dyn_cast<ShardingRuleOpInterface>(op)) {
        followSequence(&op, rule.getShardingRule());
        if (llvm::any_of(op.getOperands(), [&](Value operand) { return parameters.contains(operand); }))
          users.push_back(&op);
      }
    }
  }

  /// A layer is annotated as its first caller sees it.
  void visitCall(CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    if (!visited.contains(callee))
      for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments())) {
        if (auto found = sequences.find(operand); found != sequences.end())
          sequences[argument] = unsigned(found->second);
        if (auto found = parameters.find(operand); found != parameters.end())
          parameters[argument] = ShardingAttr(found->second);
      }
    visit(callee);
    for (auto [returned, result] :
         llvm::zip(callee.front().getTerminator()->getOperands(), call.getOutputs()))
      if (auto found = sequences.find(returned); found != sequences.end())
        sequences[result] = unsigned(found->second);
  }

  void followSequence(Operation *op, RuleAttr rule) {
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      auto found = sequences.find(operand);
      int64_t factor = found == sequences.end() ? -1 : rule.getOperandFactor(number, found->second);
      if (factor < 0)
        continue;
      for (OpResult result : op->getResults())
        for (int64_t dim = 0, rank = cast<RankedTensorType>(result.getType()).getRank(); dim < rank; ++dim)
          if (rule.getResultFactor(result.getResultNumber(), dim) == factor)
            sequences[result] = dim;
    }
  }

  //===--------------------------------------------------------------------===//
  // Constraints
  //===--------------------------------------------------------------------===//

  /// Factors of an op by which parameters are split over axes of tensor parallelism.
  llvm::SmallSetVector<int64_t, 4> getSplitFactors(Operation *op, RuleAttr rule) const {
    llvm::SmallSetVector<int64_t, 4> factors;
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (ShardingAttr sharding = parameters.lookup(operand))
        for (int64_t dim = 0, rank = sharding.getDims().size(); dim < rank; ++dim)
          if (llvm::any_of(sharding.getAxes(dim),
                           [&](StringAttr axis) { return llvm::is_contained(tensor, axis); }))
            if (int64_t factor = rule.getOperandFactor(number, dim); factor >= 0)
              factors.insert(factor);
    return factors;
  }

  void constrainAround(Operation *op) {
    RuleAttr rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
    auto factors = getSplitFactors(op, rule);
    if (factors.empty())
      return;
    for (OpResult result : op->getResults())
      if (sequences.contains(result) && llvm::any_of(factors, [&](int64_t factor) {
            return rule.isPending(result.getResultNumber(), factor);
          }))
        splitSum(result);
    for (Value operand : op->getOperands())
      if (!parameters.contains(operand) && sequences.contains(operand) && !gathered.contains(operand) &&
          isContracted(op, operand) &&
          llvm::none_of(factors, [&](int64_t factor) { return hasFactor(op, rule, operand, factor); }))
        gatherForProducts(operand);
  }

  static bool hasFactor(Operation *op, RuleAttr rule, Value value, int64_t factor) {
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (operand == value && rule.operandHas(number, factor))
        return true;
    return false;
  }

  /// `op` sums over a dimension of `value`: a product with a parameter, not a norm or an addition.
  static bool isContracted(Operation *op, Value value) {
    RuleAttr rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
    for (int64_t factor = 0; factor < rule.getNumFactors(); ++factor)
      if (rule.isPending(0, factor) && hasFactor(op, rule, value, factor))
        return true;
    return false;
  }

  Value constrain(Value value, const Axes &along, StringRef cause) {
    unsigned sequence = sequences.lookup(value);
    SmallVector<DimShardingAttr> dims;
    for (int64_t dim = 0, rank = cast<RankedTensorType>(value.getType()).getRank(); dim < rank; ++dim)
      dims.push_back(
          DimShardingAttr::get(builder.getContext(), dim == sequence ? along : Axes(), dim != sequence));
    auto mesh = FlatSymbolRefAttr::get(builder.getContext(), meshName);
    auto op = builder.create<ConstrainOp>(value.getLoc(), value.getType(), value,
                                          ShardingAttr::get(builder.getContext(), mesh, dims, {}, {}));
    op->setAttr(ParDialect::kCauseAttr, builder.getStringAttr(cause));
    sequences[op.getResult()] = sequence;
    return op.getResult();
  }

  /// The sum stays whole along the sequence until it is reduced, so that the product is not split otherwise.
  void splitSum(Value value) {
    builder.setInsertionPointAfterValue(value);
    Value sum = constrain(value, whole, "sequence parallelism: a product is whole along seq");
    Value part = constrain(sum, split, "sequence parallelism: a sum over tp is split along seq");
    value.replaceAllUsesExcept(part, sum.getDefiningOp());
  }

  /// One gather for all products of a value with parameters.
  void gatherForProducts(Value value) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses())
      if (llvm::is_contained(users, use.getOwner()) && isContracted(use.getOwner(), value))
        uses.push_back(&use);
    if (uses.empty())
      return;
    builder.setInsertionPointAfterValue(value);
    Value sequence = constrain(value, whole, "sequence parallelism: a product takes whole sequences");
    gathered.insert(sequence);
    for (OpOperand *use : uses)
      use->set(sequence);
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  StringRef meshName;
  const Axes tensor; ///< of tensor parallelism
  /// The sequence's axes where a product takes what a tensor-parallel group has of it, and between products.
  const Axes whole;
  Axes split;
  llvm::DenseSet<Operation *> visited;
  llvm::DenseMap<Value, unsigned> sequences;      ///< value → its dimension "seq"
  llvm::DenseMap<Value, ShardingAttr> parameters; ///< value → compute sharding, may be null
  llvm::DenseSet<Value> gathered;                 ///< made whole for products
  SmallVector<Operation *> users;                 ///< ops with a parameter among their operands
};

struct ShardSequence : par::impl::ShardSequenceBase<ShardSequence> {
  void runOnOperation() override {
    MeshAttr mesh = getMesh(getOperation());
    if (mesh && !mesh.getAxes(AxisRole::Tensor).empty())
      SequenceSharder(getOperation(), mesh).run();
  }
};
} // namespace
