//===- DescribeProblem.cpp - reads what may be chosen from a graph --------------------------------------===//
#include "FunctionWeights.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/ShardingSearch/ShardingProblem.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::par;

/// Exchanges of an op that completes its results itself where their terms are split (cross entropy: a
/// maximum, a sum, and what was picked).
static constexpr double kStatistics = 3;
/// Products of a product's backward pass: with regard to each factor.
static constexpr unsigned kMostGradients = 2;

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
class ProblemReader {
public:
  ProblemReader(ModuleOp module, StringAttr axis) : functions(module) {
    problem.mesh = getMeshName(module);
    problem.axis = axis;
    problem.ranks = getMesh(module).getSize(axis.getValue());
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::Parameter)
        variables.push_back(variable);
  }

  FailureOr<ShardingProblem> read() {
    for (func::FuncOp function : functions.getFunctions())
      if (failed(addFunction(function)))
        return failure();
    makeGroups();
    closeGroups();
    bool changed = true;
    while (changed) {
      changed = false;
      for (RuledOp &op : ops) {
        changed |= spreadActivity(op.op);
        changed |= spreadDimensions(op);
      }
    }
    for (RuledOp &op : ops)
      problem.ops.push_back(makeChoice(op));
    makeLayouts();
    return std::move(problem);
  }

private:
  struct RuledOp {
    Operation *op;
    RuleAttr rule;
    double weight;
  };
  /// What is found out of a group until its layouts are made.
  struct GroupState {
    SmallVector<bool> reached; ///< by dimension: a dimension of a parameter leads here
    SmallVector<bool> splits;  ///< by dimension: some op may be split by it
    bool isWhole = false, isActive = false;
    std::optional<Layout> annotated;
  };

  //===--------------------------------------------------------------------===//
  // Values and groups
  //===--------------------------------------------------------------------===//

  void addValue(Value value, double weight) {
    numbers[value] = static_cast<unsigned>(values.size());
    values.push_back(value);
    problem.values.push_back({0, getType(value), weight});
  }

  LogicalResult addFunction(func::FuncOp function) {
    double weight = functions.getWeight(function);
    for (BlockArgument argument : function.getArguments())
      addValue(argument, weight);
    for (Operation &op : function.front().without_terminator()) {
      for (Value result : op.getResults())
        addValue(result, weight);
      auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
      if (!ruled && !isa<CallOp>(op))
        return op.emitOpError(
            "par-search-sharding: the op has no sharding rule; implement ShardingRuleOpInterface");
      // A constant is there wherever it is read.
      if (ruled && op.getNumOperands())
        ops.push_back({&op, ruled.getShardingRule(), weight});
      if (auto call = dyn_cast<CallOp>(op))
        calls.push_back(call);
    }
    return success();
  }

  void makeGroups() {
    llvm::IntEqClasses classes(values.size() + variables.size());
    auto join = [&](Value a, Value b) { classes.join(numbers.lookup(a), numbers.lookup(b)); };
    for (CallOp call : calls) {
      func::FuncOp callee = functions.getLike(functions.getSymbols().lookup<func::FuncOp>(call.getCallee()));
      for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments()))
        join(operand, argument);
      for (auto [result, returned] :
           llvm::zip(call.getOutputs(), callee.front().getTerminator()->getOperands()))
        join(result, returned);
    }
    llvm::StringMap<unsigned> byName;
    for (auto [number, variable] : llvm::enumerate(variables))
      byName[variable.getSymName()] = static_cast<unsigned>(values.size() + number);
    for (auto [number, value] : llvm::enumerate(values))
      if (FlatSymbolRefAttr bound = getVariable(value))
        if (auto found = byName.find(bound.getValue()); found != byName.end())
          classes.join(static_cast<unsigned>(number), found->second);
    classes.compress();
    problem.groups.resize(classes.getNumClasses());
    states.resize(classes.getNumClasses());
    for (size_t number = 0; number < values.size(); ++number)
      problem.values[number].group = classes[static_cast<unsigned>(number)];
    for (auto [number, variable] : llvm::enumerate(variables))
      addParameter(variable, classes[static_cast<unsigned>(values.size() + number)]);
  }

  void addParameter(VariableOp variable, unsigned group) {
    GroupState &state = states[group];
    problem.groups[group].parameters.push_back(variable);
    problem.groups[group].isOpen = false;
    resize(state, variable.getTensorType());
    for (auto [dim, size] : llvm::enumerate(variable.getTensorType().getShape()))
      state.reached[dim] = size >= problem.ranks;
    state.isActive |= isa<FloatType>(variable.getTensorType().getElementType());
    ShardingAttr written = variable.getComputeAttr();
    if (!written)
      return;
    // What somebody decided stays, as par-shard-tensor leaves it.
    state.annotated = kWhole;
    for (int64_t dim = 0, rank = static_cast<int64_t>(written.getDims().size()); dim < rank; ++dim)
      if (llvm::is_contained(written.getAxes(dim), problem.axis))
        state.annotated = dim;
    for (auto [dim, reached] : llvm::enumerate(state.reached))
      reached = state.annotated == static_cast<Layout>(dim);
  }

  static void resize(GroupState &state, RankedTensorType type) {
    state.reached.resize(type.getRank(), false);
    state.splits.resize(type.getRank(), false);
  }

  /// Inputs lie whole on all ranks of the axis, and so does what has no operands.
  void closeGroups() {
    for (auto [number, value] : llvm::enumerate(values)) {
      GroupState &state = states[problem.values[number].group];
      TensorGroup &group = problem.groups[problem.values[number].group];
      resize(state, getType(value));
      auto argument = dyn_cast<BlockArgument>(value);
      auto function = argument ? cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
      bool isInput = function && getPlace(function, argument.getArgNumber()) && group.parameters.empty();
      bool isConstant = value.getDefiningOp() && value.getDefiningOp()->getNumOperands() == 0;
      if (!isInput && !isConstant)
        continue;
      state.isWhole = true;
      group.isOpen = false;
    }
  }

  GroupState &getState(Value value) { return states[problem.values[numbers.lookup(value)].group]; }

  //===--------------------------------------------------------------------===//
  // What spreads
  //===--------------------------------------------------------------------===//

  bool spreadActivity(Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return getState(operand).isActive; }))
      return false;
    bool changed = false;
    for (Value result : op->getResults())
      if (GroupState &state = getState(result);
          !state.isActive && isa<FloatType>(getType(result).getElementType()))
        changed = state.isActive = true;
    return changed;
  }

  /// Calls `visit` with the group's state and the dimension of every operand and result that has `factor`.
  template <typename Visit>
  void visitDimensions(const RuledOp &op, int64_t factor, Visit &&visit) {
    for (auto [number, operand] : llvm::enumerate(op.op->getOperands()))
      for (int64_t dim = 0, rank = getType(operand).getRank(); dim < rank; ++dim)
        if (op.rule.getOperandFactor(static_cast<int64_t>(number), dim) == factor)
          visit(getState(operand), dim);
    for (auto [number, result] : llvm::enumerate(op.op->getResults()))
      for (int64_t dim = 0, rank = getType(result).getRank(); dim < rank; ++dim)
        if (op.rule.getResultFactor(static_cast<int64_t>(number), dim) == factor)
          visit(getState(result), dim);
  }

  /// A dimension of several factors is split evenly only.
  static bool isCompound(RuleAttr rule, int64_t factor) {
    auto shares = [&](TensorFactorsAttr tensor) {
      return llvm::any_of(tensor.getDims(),
                          [&](DenseI64ArrayAttr dim) { return dim.size() > 1 && dim[0] == factor; });
    };
    return llvm::any_of(rule.getOperands(), shares) || llvm::any_of(rule.getResults(), shares);
  }

  bool maySplit(RuleAttr rule, int64_t factor) const {
    int64_t size = rule.getSizes()[factor];
    return rule.maySplit(factor) && size >= problem.ranks &&
           (size % problem.ranks == 0 || !isCompound(rule, factor));
  }

  bool isReached(const RuledOp &op, int64_t factor) {
    bool found = false;
    visitDimensions(op, factor, [&](GroupState &state, int64_t dim) { found |= state.reached[dim]; });
    return found;
  }

  bool spreadDimensions(const RuledOp &op) {
    bool changed = false;
    for (int64_t factor = 0; factor < op.rule.getNumFactors(); ++factor) {
      if (!maySplit(op.rule, factor) || !isReached(op, factor))
        continue;
      visitDimensions(op, factor, [&](GroupState &state, int64_t dim) {
        bool reaches = !state.isWhole && !state.annotated;
        changed |= reaches && !state.reached[dim];
        state.reached[dim] = state.reached[dim] || reaches;
        state.splits[dim] = true;
      });
    }
    return changed;
  }

  //===--------------------------------------------------------------------===//
  // Alternatives
  //===--------------------------------------------------------------------===//

  OpChoice makeChoice(const RuledOp &ruled) {
    OpChoice choice{ruled.op, ruled.weight, {-1}, {}, {}, {}, 1, {}};
    for (int64_t factor = 0; factor < ruled.rule.getNumFactors(); ++factor)
      if (maySplit(ruled.rule, factor) && isReached(ruled, factor))
        choice.factors.push_back(factor);
    auto active = static_cast<unsigned>(
        llvm::count_if(ruled.op->getOperands(), [&](Value operand) { return getState(operand).isActive; }));
    choice.passes += std::min(active, kMostGradients);
    for (int64_t factor : choice.factors)
      addWork(ruled, factor, choice);
    for (auto [number, operand] : llvm::enumerate(ruled.op->getOperands()))
      addAccess(ruled, operand, static_cast<int64_t>(number), /*isResult=*/false, choice);
    for (auto [number, result] : llvm::enumerate(ruled.op->getResults()))
      addAccess(ruled, result, static_cast<int64_t>(number), /*isResult=*/true, choice);
    return choice;
  }

  /// What a rank has of a factor, of the rank that has most.
  double getShare(RuleAttr rule, int64_t factor) const {
    if (factor < 0)
      return 1;
    auto size = static_cast<double>(rule.getSizes()[factor]);
    return std::ceil(size / static_cast<double>(problem.ranks)) / size;
  }

  /// Elementwise ops are part of the kernel that makes or reads their operands: they move no bytes of their
  /// own.
  void addWork(const RuledOp &ruled, int64_t factor, OpChoice &choice) const {
    auto kernel = dyn_cast<KernelOpInterface>(ruled.op);
    KernelKind kind = kernel ? kernel.getKernelKind() : KernelKind::Elementwise;
    double share = getShare(ruled.rule, factor), flops = 0, bytes = 0;
    if (auto cost = dyn_cast<CostOpInterface>(ruled.op); cost && kind != KernelKind::View)
      flops = cost.getFlops();
    auto add = [&](Value value, bool isSplit) {
      bytes += static_cast<double>(getTensorBytes(value.getType())) * (isSplit ? share : 1);
    };
    if (kind != KernelKind::View && kind != KernelKind::Elementwise) {
      for (auto [number, operand] : llvm::enumerate(ruled.op->getOperands()))
        add(operand, factor >= 0 && ruled.rule.operandHas(static_cast<int64_t>(number), factor));
      for (auto [number, result] : llvm::enumerate(ruled.op->getResults()))
        add(result, factor >= 0 && ruled.rule.resultHas(static_cast<int64_t>(number), factor));
    }
    choice.flops.push_back(flops * share);
    choice.bytes.push_back(bytes);
    choice.exchanged.push_back(getExchanged(ruled, factor));
  }

  static double getExchanged(const RuledOp &ruled, int64_t factor) {
    if (factor < 0 || ruled.rule.getKinds()[factor] != FactorKind::Permutation)
      return 0;
    auto bytes = static_cast<double>(getTensorBytes(ruled.op->getResult(0).getType()));
    return kStatistics * bytes /
           (ruled.rule.resultHas(0, factor) ? static_cast<double>(ruled.rule.getSizes()[factor]) : 1.0);
  }

  void addAccess(const RuledOp &ruled, Value value, int64_t number, bool isResult, OpChoice &choice) {
    Access access{numbers.lookup(value), isResult, {}};
    for (int64_t factor : choice.factors) {
      Layout layout = kWhole;
      for (int64_t dim = 0, rank = getType(value).getRank(); dim < rank && factor >= 0; ++dim)
        if ((isResult ? ruled.rule.getResultFactor(number, dim) : ruled.rule.getOperandFactor(number, dim)) ==
            factor)
          layout = dim;
      bool isPartial = factor >= 0 && (isResult ? ruled.rule.isPending(number, factor) : layout == kWhole);
      access.layouts.push_back(isPartial ? kPartial : layout);
    }
    choice.accesses.push_back(std::move(access));
  }

  void makeLayouts() {
    for (auto [group, state] : llvm::zip(problem.groups, states)) {
      if (state.annotated) {
        group.layouts = {*state.annotated};
        continue;
      }
      group.layouts = {kWhole};
      for (size_t dim = 0; dim < state.reached.size() && !state.isWhole; ++dim)
        if (state.reached[dim] && state.splits[dim])
          group.layouts.push_back(static_cast<Layout>(dim));
    }
    for (auto [value, described] : llvm::zip(values, problem.values)) {
      described.isActive = states[described.group].isActive;
      described.isHandedOn =
          llvm::any_of(value.getUsers(), [](Operation *user) { return isa<CallOp, func::ReturnOp>(user); });
    }
  }

  FunctionWeights functions;
  ShardingProblem problem;
  SmallVector<VariableOp> variables;
  SmallVector<Value> values;
  llvm::DenseMap<Value, unsigned> numbers;
  SmallVector<RuledOp> ops;
  SmallVector<CallOp> calls;
  std::vector<GroupState> states; ///< by group
};
} // namespace

FailureOr<ShardingProblem> par::describeProblem(ModuleOp module, StringAttr axis) {
  return ProblemReader(module, axis).read();
}
