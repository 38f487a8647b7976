//===- VerifyShardings.cpp - checks the shardings of a propagated module --------------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Sharding/FactorAssignment.h"
#include "par/Transforms/Propagate/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_VERIFYSHARDINGS
#include "par/Transforms/Propagate/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

static ArrayRef<StringAttr> getUnreduced(Value value) { return getSharding(value).getUnreduced(); }

static bool isUnreduced(Value value, StringAttr axis) {
  return llvm::is_contained(getUnreduced(value), axis);
}

/// An axis of `left` that `right` has not; null: there is none.
static StringAttr findMissing(ArrayRef<StringAttr> left, ArrayRef<StringAttr> right) {
  const auto *found = llvm::find_if(left, [&](StringAttr axis) { return !llvm::is_contained(right, axis); });
  return found == left.end() ? StringAttr() : *found;
}

static StringAttr findDifference(ArrayRef<StringAttr> left, ArrayRef<StringAttr> right) {
  StringAttr missing = findMissing(left, right);
  return missing ? missing : findMissing(right, left);
}

namespace {
/// The shardings of an op's operands and results, which are looked up once.
struct OpShardings {
  SmallVector<ShardingAttr> operands, results;

  explicit OpShardings(Operation *op) {
    for (Value operand : op->getOperands())
      operands.push_back(getSharding(operand));
    for (Value result : op->getResults())
      results.push_back(getSharding(result));
  }

  bool split(StringAttr axis) const {
    auto has = [&](ShardingAttr one) { return llvm::is_contained(one.getShardedAxes(), axis); };
    return llvm::any_of(operands, has) || llvm::any_of(results, has);
  }
};

/// (shardings_c2) Where sums over an axis are not complete.
class SumVerifier {
public:
  SumVerifier(const SymbolTable &symbols, bool derived) : symbols(symbols), derived(derived) {}

  LogicalResult verify(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (StringRef input; !getUnreduced(argument).empty() &&
                           !(input = getInputName(function, argument.getArgNumber())).empty())
        return function.emitError("shardings_c2: argument ")
               << argument.getArgNumber() << " of @" << function.getSymName() << " is the input \"" << input
               << "\", which is no sum, but " << getSharding(argument) << "; leave out what is unreduced";
    for (Operation &op : function.front())
      if (failed(verify(&op)))
        return failure();
    return success();
  }

private:
  LogicalResult verify(Operation *op) {
    if (auto call = dyn_cast<CallOp>(op))
      return verifyCall(call);
    if (auto exit = dyn_cast<func::ReturnOp>(op))
      return verifyReturn(exit);
    if (isa<ReshardOp>(op)) // completes a sum, or hands it on, as it says
      return success();
    OpShardings shardings(op);
    if (!concernsSums(shardings))
      return success();
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    return isa<ConstrainOp>(op) || !ruled ? verifyComplete(op)
                                          : verifyRule(op, shardings, ruled.getShardingRule());
  }

  /// Rules take their time: of most ops it is plain that they have no part in a sum.
  bool concernsSums(const OpShardings &shardings) const {
    ArrayRef<ShardingAttr> operands = shardings.operands, results = shardings.results;
    auto has = [](ShardingAttr sharding) { return sharding && !sharding.getUnreduced().empty(); };
    if (llvm::any_of(operands, has) || llvm::any_of(results, has))
      return true;
    return derived && llvm::any_of(operands, [&](ShardingAttr operand) {
             return llvm::any_of(results, [&](ShardingAttr result) {
               return operand != result && findMissing(operand.getShardedAxes(), result.getShardedAxes());
             });
           });
  }

  /// A constrained value is whole; so is what has no rule.
  static LogicalResult verifyComplete(Operation *op) {
    for (OpResult result : op->getResults())
      if (!getUnreduced(result).empty())
        return op->emitOpError("shardings_c2: result ")
               << result.getResultNumber() << " is " << getSharding(result)
               << ", but the op gives no partial sums; leave out what is unreduced";
    return success();
  }

  /// A set of operands of which all are sums over `axis`, so that the results are; null: there is none.
  static DenseI64ArrayAttr findLinearSet(const OpShardings &shardings, RuleAttr rule, StringAttr axis) {
    if (shardings.split(axis))
      return nullptr;
    for (DenseI64ArrayAttr set : rule.getLinear())
      if (!set.empty() && llvm::all_of(set.asArrayRef(), [&](int64_t operand) {
            return llvm::is_contained(shardings.operands[operand].getUnreduced(), axis);
          }))
        return set;
    return nullptr;
  }

  LogicalResult verifyRule(Operation *op, const OpShardings &shardings, RuleAttr rule) {
    for (OpOperand &operand : op->getOpOperands())
      for (StringAttr axis : shardings.operands[operand.getOperandNumber()].getUnreduced()) {
        DenseI64ArrayAttr set = findLinearSet(shardings, rule, axis);
        if (!set || !llvm::is_contained(set.asArrayRef(), operand.getOperandNumber()))
          return refuseOperand(operand, rule, axis);
      }
    FactorAxes factors = readFactors(rule, shardings.operands, shardings.results);
    for (OpResult result : op->getResults())
      if (failed(verifyResult(result, shardings, rule, pendingAxes(rule, factors, result.getResultNumber()))))
        return failure();
    return success();
  }

  static LogicalResult refuseOperand(OpOperand &operand, RuleAttr rule, StringAttr axis) {
    Operation *op = operand.getOwner();
    InFlightDiagnostic error = op->emitOpError("shardings_c2: operand ")
                               << operand.getOperandNumber() << " is a sum over " << axis
                               << " that is not complete, and the op is linear in ";
    llvm::interleaveComma(rule.getLinear(), error, [&](DenseI64ArrayAttr set) {
      error << "{";
      llvm::interleaveComma(set.asArrayRef(), error);
      error << "}";
    });
    error
        << (rule.getLinear().empty() ? "nothing" : "")
        << "; expected all operands of such a set to be unreduced over it, or a par.constrain before the op";
    error.attachNote(operand.get().getLoc()) << "it is " << getSharding(operand.get()) << " here";
    return error;
  }

  /// What is unreduced is what the op makes a sum of, and what passes through it.
  LogicalResult verifyResult(OpResult result, const OpShardings &shardings, RuleAttr rule, Axes sums) {
    Operation *op = result.getOwner();
    bool passes = false;
    for (ShardingAttr operand : shardings.operands)
      for (StringAttr axis : operand.getUnreduced())
        if (findLinearSet(shardings, rule, axis) && !llvm::is_contained(sums, axis)) {
          passes |= !isUnreduced(result, axis);
          sums.push_back(axis);
        }
    StringAttr surplus = findMissing(getUnreduced(result), sums),
               missing = findMissing(sums, getUnreduced(result));
    if (!surplus && !(missing && (derived || passes)))
      return success();
    InFlightDiagnostic error = op->emitOpError("shardings_c2: result ")
                               << result.getResultNumber() << " is " << getSharding(result) << ", but ";
    if (surplus)
      return error << "the op makes no sum over " << surplus
                   << ", and none passes through it; expected unreduced={" << printAxes(sums) << "}";
    return error << "it is a sum over " << missing << " that is not complete; expected unreduced={"
                 << printAxes(sums) << "}";
  }

  static std::string printAxes(ArrayRef<StringAttr> axes) {
    return llvm::join(
        llvm::map_range(axes, [](StringAttr axis) { return ("\"" + axis.strref() + "\"").str(); }), ", ");
  }

  //===--------------------------------------------------------------------===//
  // Between functions
  //===--------------------------------------------------------------------===//

  LogicalResult verifyCall(CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
    for (auto [number, operand] : llvm::enumerate(call.getInputs()))
      if (StringAttr axis = findDifference(getUnreduced(operand), getUnreduced(callee.getArgument(number))))
        return differs(call, "operand " + Twine(number), getSharding(operand), "argument " + Twine(number),
                       callee, getSharding(callee.getArgument(number)), axis);
    for (auto [number, result] : llvm::enumerate(call.getOutputs()))
      if (StringAttr axis =
              findDifference(getUnreduced(result), getResultSharding(callee, number).getUnreduced()))
        return differs(call, "result " + Twine(number), getSharding(result), "result " + Twine(number),
                       callee, getResultSharding(callee, number), axis);
    return success();
  }

  LogicalResult verifyReturn(func::ReturnOp exit) {
    auto function = cast<func::FuncOp>(exit->getParentOp());
    for (auto [number, operand] : llvm::enumerate(exit.getOperands()))
      if (StringAttr axis =
              findDifference(getUnreduced(operand), getResultSharding(function, number).getUnreduced()))
        return differs(exit, "operand " + Twine(number), getSharding(operand), "result " + Twine(number),
                       function, getResultSharding(function, number), axis);
    return success();
  }

  static LogicalResult differs(Operation *op, const Twine &what, ShardingAttr have, const Twine &place,
                               func::FuncOp function, ShardingAttr wanted, StringAttr axis) {
    InFlightDiagnostic error = op->emitOpError("shardings_c2: ")
                               << what << " is " << have << ", but " << place << " of @"
                               << function.getSymName() << " is " << wanted
                               << "; expected both or neither to be "
                               << "unreduced over " << axis;
    error.attachNote(function.getLoc()) << "the function";
    return error;
  }

  const SymbolTable &symbols;
  bool derived;
};

struct VerifyShardings : par::impl::VerifyShardingsBase<VerifyShardings> {
  using VerifyShardingsBase::VerifyShardingsBase;

  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

private:
  LogicalResult verify() {
    ModuleOp module = getOperation();
    if (!getMesh(module))
      return module.emitError("par-verify-shardings: the module has no par.mesh; run par-set-mesh first");
    SymbolTable symbols(module);
    for (auto variable : module.getOps<VariableOp>())
      if (failed(verifyClosed(variable, "compute of @" + variable.getSymName(), variable.getComputeAttr())))
        return failure();
    // All of them before the first that looks at another one's.
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(verifyClosed(function)))
        return failure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && (failed(verifyAccesses(function, symbols)) ||
                                     failed(SumVerifier(symbols, derived).verify(function))))
        return failure();
    return success();
  }

  //===--------------------------------------------------------------------===//
  // (shardings_c1) Every value has a closed one
  //===--------------------------------------------------------------------===//

  static LogicalResult verifyClosed(Operation *op, const Twine &what, ShardingAttr sharding) {
    constexpr StringLiteral remedy =
        ", expected a closed one; run par-propagate-shardings (--from propagate)";
    if (!sharding)
      return op->emitError("shardings_c1: ") << what << " has no sharding" << remedy;
    for (auto [number, dim] : llvm::enumerate(sharding.getDims()))
      if (dim.getOpen())
        return op->emitError("shardings_c1: ")
               << what << " is " << sharding << ", whose dimension " << number << " is open" << remedy;
    return success();
  }

  static LogicalResult verifyClosed(func::FuncOp function) {
    std::string of = (" of @" + function.getSymName()).str();
    for (BlockArgument argument : function.getArguments())
      if (failed(verifyClosed(function, "argument " + Twine(argument.getArgNumber()) + of,
                              getSharding(argument))))
        return failure();
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (failed(verifyClosed(function, "result " + Twine(result) + of, getResultSharding(function, result))))
        return failure();
    for (Operation &op : function.front())
      for (OpResult result : op.getResults())
        if (isa<RankedTensorType>(result.getType()) &&
            failed(verifyClosed(
                &op, "result " + Twine(result.getResultNumber()) + " of " + op.getName().getStringRef(),
                getSharding(result))))
          return failure();
    return success();
  }

  //===--------------------------------------------------------------------===//
  // (shardings_c3) A variable has one
  //===--------------------------------------------------------------------===//

  LogicalResult verifyAccesses(func::FuncOp function, const SymbolTable &symbols) {
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (failed(verifyAccess(function, "argument " + Twine(argument), getVariable(function, argument),
                              getSharding(function.getArgument(argument)), symbols)))
        return failure();
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (failed(verifyAccess(function, "result " + Twine(result), getResultVariable(function, result),
                              getResultSharding(function, result), symbols)))
        return failure();
    return success();
  }

  /// Where reshards are explicit, functions read and write variables as they are stored.
  LogicalResult verifyAccess(func::FuncOp function, const Twine &place, FlatSymbolRefAttr symbol,
                             ShardingAttr sharding, const SymbolTable &symbols) {
    auto variable = symbol ? symbols.lookup<VariableOp>(symbol.getAttr()) : VariableOp();
    if (!variable)
      return success();
    bool isStored = derived && variable.getStorageAttr();
    ShardingAttr expected = isStored ? variable.getStorageAttr() : variable.getComputeAttr();
    if (sharding == expected)
      return success();
    InFlightDiagnostic error = function.emitError("shardings_c3: ")
                               << place << " of @" << function.getSymName() << " accesses " << symbol
                               << " as " << sharding << ", expected " << expected << ", its "
                               << (isStored ? "storage" : "compute")
                               << "; give both one sharding, and computation another one by par.constrain";
    error.attachNote(variable.getLoc()) << "the variable";
    return error;
  }
};
} // namespace
