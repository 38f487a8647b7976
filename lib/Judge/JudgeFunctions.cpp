//===- JudgeFunctions.cpp - chunk functions of a rank beside those of one device ------------------------===//
#include "Lemma.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Judge/Judge.h"
#include <set>

using namespace mlir;
using namespace mlir::par;

namespace {
/// Numbers of what one device computes.
class Reference {
public:
  Reference(ModuleOp module, OpNumbers &numbers) : symbols(module), numbers(numbers) {}

  func::FuncOp find(StringRef name) { return symbols.lookup<func::FuncOp>(name); }

  FailureOr<SmallVector<Number>> evaluate(func::FuncOp function, ArrayRef<Number> arguments) {
    llvm::DenseMap<Value, Number> values;
    for (auto [argument, number] : llvm::zip(function.getArguments(), arguments))
      values[argument] = number;
    for (Operation &op : function.getBody().front()) {
      SmallVector<Number> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      if (isa<func::ReturnOp>(op))
        return operands;
      FailureOr<SmallVector<Number>> results = step(&op, operands);
      if (failed(results))
        return failure();
      for (auto [value, number] : llvm::zip(op.getResults(), *results)) {
        values[value] = number;
        known.insert(number);
      }
    }
    function.emitError("par-prove: the function returns nothing");
    return failure();
  }

  /// Whether one device computes such a value.
  bool has(const Number &number) const { return known.count(number); }
  void add(const Number &number) { known.insert(number); }

private:
  FailureOr<SmallVector<Number>> step(Operation *op, ArrayRef<Number> operands) {
    if (auto call = dyn_cast<CallOp>(op)) {
      func::FuncOp callee = find(call.getCallee());
      if (!callee || call.getParts() != 1) {
        op->emitError("par-prove: the reference calls @")
            << call.getCallee() << (callee ? " in parts; give the module before that" : ", which it lacks");
        return failure();
      }
      return evaluate(callee, operands);
    }
    auto interface = dyn_cast<ShardingRuleOpInterface>(op);
    RuleAttr rule = interface ? interface.getShardingRule() : RuleAttr();
    return numbers.get(op, operands, rule, rule ? rule.getSizes() : ArrayRef<int64_t>());
  }

  SymbolTable symbols;
  OpNumbers &numbers;
  std::set<Number> known;
};

/// What ranks hold of the values of a local program.
class Program {
public:
  Program(ModuleOp module, MeshAttr mesh, OpNumbers &numbers, const Reference &reference)
      : symbols(module), mesh(mesh), numbers(numbers), reference(reference) {}

  FailureOr<SmallVector<Held, 0>> evaluate(func::FuncOp function, ArrayRef<Held> arguments) {
    llvm::DenseMap<Value, Held> values;
    for (auto [argument, held] : llvm::zip(function.getArguments(), arguments))
      values[argument] = held;
    for (Operation &op : function.getBody().front()) {
      SmallVector<Held, 0> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      if (isa<func::ReturnOp>(op))
        return operands;
      FailureOr<SmallVector<Held, 0>> results = step(&op, operands);
      if (failed(results))
        return failure();
      for (auto [value, held] : llvm::zip(op.getResults(), *results))
        values[value] = held;
      suspect(&op, operands, *results);
    }
    function.emitError("par-prove: the function returns nothing");
    return failure();
  }

  /// The first op whose results are not the reference's although its operands are; null: none.
  Operation *getSuspect() const { return suspected; }
  void clearSuspect() { suspected = nullptr; }

private:
  FailureOr<SmallVector<Held, 0>> step(Operation *op, ArrayRef<Held> operands) {
    if (auto call = dyn_cast<CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || call.getParts() != 1) {
        op->emitError("par-prove: the program calls @")
            << call.getCallee() << (callee ? " in parts; give the module before that" : ", which it lacks");
        return failure();
      }
      return evaluate(callee, operands);
    }
    auto isKnown = [this](const Number &number) { return reference.has(number); };
    LemmaContext context(op, operands, mesh, numbers, isKnown);
    FailureOr<SmallVector<Held, 0>> results = applyLemma(context);
    if (failed(results))
      op->emitError("par-prove: ") << op->getName().stripDialect() << " " << context.reason;
    return results;
  }

  void suspect(Operation *op, ArrayRef<Held> operands, ArrayRef<Held> results) {
    auto isKnown = [&](const Held &held) { return reference.has(held.what); };
    if (!suspected && !isa<CallOp>(op) && !operands.empty() && llvm::all_of(operands, isKnown) &&
        !llvm::all_of(results, isKnown))
      suspected = op;
  }

  SymbolTable symbols;
  MeshAttr mesh;
  OpNumbers &numbers;
  const Reference &reference;
  Operation *suspected = nullptr;
};

/// Chunk functions of two modules, paired by name.
class FunctionsJudge {
public:
  FunctionsJudge(ModuleOp referenceModule, ModuleOp programModule, MeshAttr mesh)
      : programModule(programModule), mesh(mesh), reference(referenceModule, numbers),
        program(programModule, mesh, numbers, reference) {}

  LogicalResult run() {
    SmallVector<func::FuncOp> functions;
    for (auto function : programModule.getOps<func::FuncOp>())
      if (getPhase(function))
        functions.push_back(function);
    // Who hands something over comes first: forward functions from the first chunk on, backward ones from the
    // last.
    llvm::stable_sort(functions, [](func::FuncOp a, func::FuncOp b) {
      auto key = [](func::FuncOp function) {
        bool backwards = isBackward(getPhase(function).getPhase());
        return std::pair(backwards, backwards ? -getChunk(function) : getChunk(function));
      };
      return key(a) < key(b);
    });
    for (func::FuncOp function : functions)
      if (failed(judge(function)))
        return failure();
    return functions.empty() ? programModule.emitError("par-prove: the program has no chunk function")
                             : success();
  }

private:
  LogicalResult judge(func::FuncOp local) {
    if (!local->hasAttr(ParDialect::kLocalAttr))
      return local.emitError("par-prove: @")
             << local.getName() << " is of one device; give a module behind par-partition";
    func::FuncOp global = reference.find(local.getName());
    if (!global)
      return local.emitError("par-prove: the reference has no function @") << local.getName();
    if (global.getNumArguments() != local.getNumArguments() ||
        global.getNumResults() != local.getNumResults())
      return local.emitError("par-prove: @")
             << local.getName() << " has other arguments than the reference's";
    SmallVector<Number> numbersOfArguments;
    SmallVector<Held, 0> arguments;
    for (unsigned argument = 0; argument < local.getNumArguments(); ++argument) {
      FailureOr<Held> held = readArgument(local, argument);
      if (failed(held))
        return failure();
      if (getPlace(global, argument) != getPlace(local, argument))
        return local.emitError("par-prove: argument ") << argument << " is another than the reference's";
      numbersOfArguments.push_back(held->what);
      reference.add(held->what);
      arguments.push_back(*held);
    }
    program.clearSuspect();
    FailureOr<SmallVector<Number>> expected = reference.evaluate(global, numbersOfArguments);
    if (failed(expected))
      return failure();
    FailureOr<SmallVector<Held, 0>> actual = program.evaluate(local, arguments);
    if (failed(actual))
      return failure();
    for (unsigned result = 0; result < local.getNumResults(); ++result) {
      if (failed(compare(local, result, (*actual)[result], (*expected)[result])))
        return failure();
      handOver(local, result, (*actual)[result]);
    }
    return success();
  }

  /// Phases that send boundaries to each other.
  static Phase getDirection(func::FuncOp function) {
    Phase phase = getPhase(function).getPhase();
    return isBackward(phase) ? Phase::Backward : phase;
  }

  /// What another function was judged to hand over: a residual to a later phase of its chunk, a boundary to
  /// the next chunk or, a cotangent, to the one before. Null: nothing was judged yet.
  const Held *findHandedOver(func::FuncOp function, unsigned argument) const {
    int64_t chunk = getChunk(function);
    if (std::optional<int64_t> number = getResidual(function, argument)) {
      auto at = residuals.find({chunk, *number});
      return at == residuals.end() ? nullptr : &at->second;
    }
    std::optional<int64_t> number = getBoundary(function, argument);
    if (!number)
      return nullptr;
    int64_t sender = chunk + (isBackward(getPhase(function).getPhase()) ? 1 : -1);
    auto at = boundaries.find({getDirection(function), sender, *number});
    return at == boundaries.end() ? nullptr : &at->second;
  }

  void handOver(func::FuncOp function, unsigned result, const Held &held) {
    if (std::optional<int64_t> residual = getResultResidual(function, result))
      residuals[{getChunk(function), *residual}] = held;
    if (std::optional<int64_t> boundary = getResultBoundary(function, result))
      boundaries[{getDirection(function), getChunk(function), *boundary}] = held;
  }

  /// Inputs, variables and state are random numbers.
  static Number nameArgument(func::FuncOp function, unsigned argument) {
    RandomFunction name("argument");
    if (PlaceAttr place = getPlace(function, argument)) {
      std::string text;
      llvm::raw_string_ostream(text) << place;
      return name.add(text).get();
    }
    return name.add(function.getName()).add(argument).get();
  }

  FailureOr<Held> readArgument(func::FuncOp function, unsigned argument) {
    if (const Held *held = findHandedOver(function, argument))
      return *held;
    Held held;
    held.what = nameArgument(function, argument);
    RankedTensorType global = getGlobalType(function, argument);
    if (failed(read(function, getSharding(function.getArgument(argument)), global, held)))
      return failure();
    if (getVariable(function, argument)) // what is written to a variable has zeros there
      for (HeldDim &dim : held.dims)
        dim.padding = HeldDim::Padding::Zero;
    return held;
  }

  LogicalResult read(func::FuncOp function, ShardingAttr sharding, RankedTensorType global, Held &held) {
    if (!sharding)
      return function.emitError("par-prove: @") << function.getName()
                                                << " has values without sharding; give a "
                                                   "module behind par-partition";
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      HeldDim where;
      where.size = global.getDimSize(dim);
      where.axes.assign(sharding.getAxes(dim).begin(), sharding.getAxes(dim).end());
      held.dims.push_back(where);
    }
    held.pending.assign(sharding.getUnreduced().begin(), sharding.getUnreduced().end());
    return success();
  }

  LogicalResult compare(func::FuncOp function, unsigned result, const Held &actual, const Number &expected) {
    std::string name = "result " + std::to_string(result);
    if (PlaceAttr place = getResultPlace(function, result))
      llvm::raw_string_ostream(name) << " (" << place << ")";
    if (actual.what != expected) {
      Operation *op = program.getSuspect() ? program.getSuspect() : function.getOperation();
      InFlightDiagnostic error = op->emitError("par-prove: ");
      error << name << " of @" << function.getName() << " is not what one device computes";
      if (program.getSuspect())
        error << "; " << op->getName() << " is the first op whose result it has not";
      return error;
    }
    Held declared;
    auto global = function.getResultAttrOfType<TypeAttr>(result, ParDialect::kGlobalTypeAttr);
    ShardingAttr sharding = getResultSharding(function, result);
    if (!global || failed(read(function, sharding, cast<RankedTensorType>(global.getValue()), declared)))
      return failure();
    for (auto [dim, is, says] : llvm::enumerate(actual.dims, declared.dims)) {
      if (is.isConstant)
        continue;
      if (is.axes != says.axes || (is.size != HeldDim::kUnbounded && is.size != says.size))
        return function.emitError("par-prove: ") << name << " of @" << function.getName()
                                                 << " is cut in another way "
                                                    "than its sharding says along dimension "
                                                 << dim;
    }
    if (getResultVariable(function, result))
      for (auto [dim, is] : llvm::enumerate(actual.dims))
        if (is.padding != HeldDim::Padding::Zero &&
            isPadded(is, cast<RankedTensorType>(function.getResultTypes()[result]).getDimSize(dim), mesh))
          return function.emitError("par-prove: ")
                 << name << " of @" << function.getName() << " is written with padding along dimension "
                 << dim << " that may hold anything, not zeros";
    auto sorted = [](const Axes &axes) {
      std::set<StringRef> names;
      for (StringAttr axis : axes)
        names.insert(axis.getValue());
      return names;
    };
    if (sorted(actual.pending) != sorted(declared.pending) || !actual.logPending.empty())
      return function.emitError("par-prove: ") << name << " of @" << function.getName()
                                               << " is pending over other axes "
                                                  "than its sharding says";
    return success();
  }

  ModuleOp programModule;
  MeshAttr mesh;
  OpNumbers numbers;
  Reference reference;
  Program program;
  std::map<std::pair<int64_t, int64_t>, Held> residuals;          ///< by chunk and number
  std::map<std::tuple<Phase, int64_t, int64_t>, Held> boundaries; ///< by phase, chunk and number
};
} // namespace

LogicalResult mlir::par::judgeFunctions(ModuleOp reference, ModuleOp program) {
  MeshAttr mesh = getMesh(program);
  if (!mesh)
    return program.emitError("par-prove: the program has no par.mesh; give a module behind par-partition");
  return FunctionsJudge(reference, program, mesh).run();
}
