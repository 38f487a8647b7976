//===- JudgeFunctions.cpp - chunk functions of a rank beside those of one device ------------------------===//
#include "HandedOver.h"
#include "LocalProgram.h"
#include "par/Judge/Judge.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Chunk functions of two modules. What they write and give back is compared by its place, that of a chunk's
/// forward and backward functions together: a pass may move work from one to the other.
class FunctionsJudge {
public:
  FunctionsJudge(ModuleOp referenceModule, ModuleOp programModule, MeshAttr mesh)
      : referenceModule(referenceModule), programModule(programModule), mesh(mesh),
        reference(referenceModule, numbers), program(programModule, mesh, numbers, reference) {}

  LogicalResult run() {
    SmallVector<func::FuncOp> functions = HandedOver<Held>::sortFunctions(programModule);
    if (functions.empty())
      return programModule.emitError("par-prove: the program has no chunk function");
    for (func::FuncOp function : functions) {
      if (!function->hasAttr(ParDialect::kLocalAttr))
        return function.emitError("par-prove: @")
               << function.getName() << " is of one device; give a module behind par-partition";
    }
    // A backward pass is whole or in two parts in the program, and has both forms in the reference.
    for (func::FuncOp function : functions)
      if (failed(evaluateReference(function)))
        return failure();
    for (func::FuncOp function : functions)
      if (failed(judge(function)))
        return failure();
    return checkLeft();
  }

private:
  /// A chunk's functions that a micro-batch runs, or those of one phase.
  static std::string nameResult(Phase phase, func::FuncOp function, unsigned result) {
    std::string name =
        (phase == Phase::Forward || isBackward(phase) ? "micro-batch" : stringifyPhase(phase)).str();
    llvm::raw_string_ostream stream(name);
    stream << ' ' << getChunk(function) << ' ';
    if (PlaceAttr place = getResultPlace(function, result))
      stream << place;
    else
      stream << function.getName() << ' ' << result;
    // Boundaries of forward and backward functions have the same numbers.
    if (getResultBoundary(function, result))
      stream << (isBackward(phase) ? " cotangent" : "");
    return name;
  }

  /// The reference's functions that do what a function of the program does: the backward function of the last
  /// micro-batch reduces gradients, too.
  static SmallVector<Phase> getPhases(func::FuncOp function) {
    switch (Phase phase = getPhase(function).getPhase()) {
    case Phase::BackwardLast:
      return {Phase::Backward, Phase::Reduce};
    case Phase::BackwardWeightLast:
      return {Phase::BackwardWeight, Phase::Reduce};
    default:
      return {phase};
    }
  }

  func::FuncOp findReference(Phase phase, int64_t chunk) {
    for (auto function : referenceModule.getOps<func::FuncOp>())
      if (isPhase(function, phase) && getChunk(function) == chunk)
        return function;
    return nullptr;
  }

  LogicalResult evaluateReference(func::FuncOp local) {
    llvm::DenseMap<Attribute, Number> written; // variables, by those of its functions that came before
    SmallVector<std::pair<std::string, Number>> results;
    std::set<Number> read; // of these, by others of its functions
    for (Phase phase : getPhases(local)) {
      func::FuncOp function = findReference(phase, getChunk(local));
      if (!function)
        return local.emitError("par-prove: the reference has no function that does what @")
               << local.getName() << " does (" << stringifyPhase(phase) << ")";
      SmallVector<Number> arguments;
      for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
        FlatSymbolRefAttr variable = getVariable(function, argument);
        const Number *given = givenNumbers.find(function, argument);
        if (auto at = written.find(variable); variable && at != written.end()) {
          arguments.push_back(at->second);
          read.insert(at->second);
        } else {
          arguments.push_back(given ? *given : nameArgument(function, argument));
        }
        reference.add(arguments.back());
      }
      FailureOr<SmallVector<Number>> numbers = reference.evaluate(function, arguments);
      if (failed(numbers))
        return failure();
      for (auto [result, number] : llvm::enumerate(*numbers)) {
        givenNumbers.give(function, result, number);
        if (FlatSymbolRefAttr variable = getResultVariable(function, result))
          written[variable] = number;
        if (!getResultResidual(function, result))
          results.push_back({nameResult(getPhase(local).getPhase(), function, result), number});
      }
    }
    for (auto &[name, number] : results)
      (read.count(number) ? passing : expected)[name].push_back(number);
    return success();
  }

  LogicalResult judge(func::FuncOp function) {
    SmallVector<Held, 0> arguments;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      FailureOr<Held> held = readArgument(function, argument);
      if (failed(held))
        return failure();
      arguments.push_back(*held);
    }
    program.clearSuspect();
    FailureOr<SmallVector<Held, 0>> results = program.evaluate(function, arguments);
    if (failed(results))
      return failure();
    for (auto [result, held] : llvm::enumerate(*results)) {
      given.give(function, result, held);
      if (!getResultResidual(function, result) && failed(compare(function, result, held)))
        return failure();
    }
    return success();
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
    if (const Held *held = given.find(function, argument))
      return *held;
    Held held;
    held.what = nameArgument(function, argument);
    if (failed(read(function, getSharding(function.getArgument(argument)), getGlobalType(function, argument),
                    held)))
      return failure();
    if (getVariable(function, argument)) // what is written to a variable has zeros there
      for (HeldDim &dim : held.dims)
        dim.padding = HeldDim::Padding::Zero;
    return held;
  }

  static LogicalResult read(func::FuncOp function, ShardingAttr sharding, RankedTensorType global,
                            Held &held) {
    if (!sharding)
      return function.emitError("par-prove: @")
             << function.getName() << " has values without sharding; give a module behind par-partition";
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      HeldDim where;
      where.size = global.getDimSize(dim);
      where.axes.assign(sharding.getAxes(dim).begin(), sharding.getAxes(dim).end());
      held.dims.push_back(where);
    }
    held.pending.assign(sharding.getUnreduced().begin(), sharding.getUnreduced().end());
    return success();
  }

  LogicalResult compare(func::FuncOp function, unsigned result, const Held &actual) {
    std::string name = nameResult(getPhase(function).getPhase(), function, result);
    SmallVector<Number> &numbers = expected[name];
    if (auto *at = llvm::find(numbers, actual.what); at != numbers.end())
      numbers.erase(at);
    else if (!llvm::is_contained(passing[name], actual.what))
      return refuseNumber(function, result);
    Held declared;
    auto global = function.getResultAttrOfType<TypeAttr>(result, ParDialect::kGlobalTypeAttr);
    ShardingAttr sharding = getResultSharding(function, result);
    if (!global || failed(read(function, sharding, cast<RankedTensorType>(global.getValue()), declared)))
      return failure();
    return compareWhere(function, result, actual, declared);
  }

  LogicalResult refuseNumber(func::FuncOp function, unsigned result) {
    Operation *suspect = program.getSuspect();
    InFlightDiagnostic error = (suspect ? suspect : function.getOperation())->emitError("par-prove: ");
    error << describe(function, result) << " is not what one device computes";
    if (suspect)
      error << "; " << suspect->getName() << " is the first op whose result it has not";
    return error;
  }

  LogicalResult compareWhere(func::FuncOp function, unsigned result, const Held &actual,
                             const Held &declared) {
    auto local = cast<RankedTensorType>(function.getResultTypes()[result]);
    for (auto [dim, is, says] : llvm::enumerate(actual.dims, declared.dims)) {
      if (is.isConstant)
        continue;
      if (is.axes != says.axes || (is.size != HeldDim::kUnbounded && is.size != says.size))
        return function.emitError("par-prove: ")
               << describe(function, result)
               << " is cut in another way than its sharding says along dimension " << dim;
      if (getResultVariable(function, result) && is.padding != HeldDim::Padding::Zero &&
          isPadded(is, local.getDimSize(dim), mesh))
        return function.emitError("par-prove: ")
               << describe(function, result) << " is written with padding along dimension " << dim
               << " that may hold anything, not zeros";
    }
    auto sorted = [](const Axes &axes) {
      std::set<StringRef> names;
      for (StringAttr axis : axes)
        names.insert(axis.getValue());
      return names;
    };
    if (sorted(actual.pending) != sorted(declared.pending) || !actual.logPending.empty() ||
        !actual.extreme.empty())
      return function.emitError("par-prove: ")
             << describe(function, result) << " is pending over other axes than its sharding says";
    return success();
  }

  static std::string describe(func::FuncOp function, unsigned result) {
    std::string text = "result " + std::to_string(result);
    llvm::raw_string_ostream stream(text);
    if (PlaceAttr place = getResultPlace(function, result))
      stream << " (" << place << ")";
    stream << " of @" << function.getName();
    return text;
  }

  LogicalResult checkLeft() {
    for (const auto &[name, numbers] : expected)
      if (!numbers.empty())
        return programModule.emitError("par-prove: no rank computes what one device has as ") << name;
    return success();
  }

  ModuleOp referenceModule, programModule;
  MeshAttr mesh;
  OpNumbers numbers;
  Reference reference;
  LocalProgram program;
  HandedOver<Number> givenNumbers;
  HandedOver<Held> given;
  std::map<std::string, SmallVector<Number>> expected; ///< results of one device that no rank has given yet
  std::map<std::string, SmallVector<Number>> passing;  ///< those that a function joined with another may keep
};
} // namespace

LogicalResult mlir::par::judgeFunctions(ModuleOp reference, ModuleOp program) {
  MeshAttr mesh = getMesh(program);
  if (!mesh)
    return program.emitError("par-prove: the program has no par.mesh; give a module behind par-partition");
  return FunctionsJudge(reference, program, mesh).run();
}
