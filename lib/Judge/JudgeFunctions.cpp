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
      : referenceModule(referenceModule), programModule(programModule), symbols(programModule), mesh(mesh),
        reference(referenceModule, numbers), program(programModule, mesh, numbers, reference) {}

  LogicalResult run() {
    SmallVector<func::FuncOp> functions = HandedOver<Given>::sortFunctions(programModule);
    if (functions.empty())
      return programModule.emitError("par-prove: the program has no chunk function");
    for (func::FuncOp function : functions) {
      if (!function->hasAttr(ParDialect::kLocalAttr))
        return function.emitError("par-prove: @")
               << function.getName() << " is of one device; give a module behind par-partition";
    }
    for (func::FuncOp function : functions)
      if (failed(evaluateReference(function)))
        return failure();
    if (failed(checkPhases(functions)))
      return failure();
    for (func::FuncOp function : functions)
      if (failed(judge(function)))
        return failure();
    return checkLeft();
  }

private:
  struct Given {
    Held held;
    Type type;
  };

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

  /// Whether the program does all that the reference does. A backward pass is whole or in two parts there,
  /// and has both forms in the reference.
  LogicalResult checkPhases(ArrayRef<func::FuncOp> functions) {
    std::set<std::pair<Phase, int64_t>> done;
    for (func::FuncOp function : functions)
      for (Phase phase : getPhases(function))
        done.insert({phase, getChunk(function)});
    for (auto function : referenceModule.getOps<func::FuncOp>()) {
      PhaseAttr phase = getPhase(function);
      if (!phase)
        continue;
      int64_t chunk = getChunk(function);
      auto has = [&](Phase other) { return done.count({other, chunk}) != 0; };
      bool hasParts = has(Phase::BackwardInput) && has(Phase::BackwardWeight);
      bool isOtherForm = phase.getPhase() == Phase::Backward
                             ? hasParts
                             : isBackward(phase.getPhase()) && has(Phase::Backward);
      if (!has(phase.getPhase()) && !isOtherForm)
        return programModule.emitError("par-prove: no function of the program does what @")
               << function.getName() << " of the reference does";
    }
    return success();
  }

  static bool writes(func::FuncOp function, FlatSymbolRefAttr variable) {
    auto isIt = [&](unsigned result) { return getResultVariable(function, result) == variable; };
    return llvm::any_of(llvm::seq<unsigned>(0, function.getNumResults()), isIt);
  }

  /// What a function joined with another reads of variables that the reference writes in the forward
  /// function, and the program in this one: a pass moved that.
  llvm::DenseMap<Attribute, Number> findMoved(func::FuncOp local) {
    llvm::DenseMap<Attribute, Number> moved;
    for (auto &[place, number] : writtenForward) {
      auto [chunk, variable] = place;
      if (chunk != getChunk(local) || getPhases(local).size() == 1 || !writes(local, variable))
        continue;
      auto isForward = [&, chunk = chunk](func::FuncOp other) {
        return isPhase(other, Phase::Forward) && getChunk(other) == chunk;
      };
      auto functions = programModule.getOps<func::FuncOp>();
      auto forward = llvm::find_if(functions, isForward);
      if (forward == functions.end() || !writes(*forward, variable))
        moved[variable] = number;
    }
    return moved;
  }

  LogicalResult evaluateReference(func::FuncOp local) {
    // Variables, by those of its functions that came before.
    llvm::DenseMap<Attribute, Number> written = findMoved(local);
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
        if (FlatSymbolRefAttr variable = getResultVariable(function, result)) {
          written[variable] = number;
          if (phase == Phase::Forward)
            writtenForward.push_back({{getChunk(local), variable}, number});
        }
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
    FailureOr<SmallVector<Held, 0>> results = program.evaluate(function, arguments);
    if (failed(results))
      return failure();
    for (auto [result, held] : llvm::enumerate(*results)) {
      given.give(function, result, {held, function.getResultTypes()[result]});
      if (!getResultResidual(function, result) && failed(compare(function, result, held)))
        return failure();
    }
    return success();
  }

  /// Inputs, variables and state are random numbers.
  Number nameArgument(func::FuncOp function, unsigned argument) {
    if (PlaceAttr place = getPlace(function, argument))
      return numbers.getPlace(place);
    return RandomFunction("argument").add(function.getName()).add(argument).get();
  }

  FailureOr<Held> readArgument(func::FuncOp function, unsigned argument) {
    auto refuse = [&](const Twine &why) {
      return function.emitError("par-prove: argument ") << argument << " of @" << function.getName() << why;
    };
    if (getResidual(function, argument) || getBoundary(function, argument)) {
      const Given *held = given.find(function, argument);
      if (!held)
        return refuse(" is what no function hands over");
      if (held->type != function.getArgument(argument).getType())
        return refuse(" has another type than what is handed over");
      return held->held;
    }
    Held held;
    held.what = nameArgument(function, argument);
    ShardingAttr sharding = getSharding(function.getArgument(argument));
    RankedTensorType global = getGlobalType(function, argument);
    if (failed(read(function, sharding, global, held)))
      return failure();
    if (FlatSymbolRefAttr variable = getVariable(function, argument)) {
      if (!isStoredSo(variable, sharding, global))
        return refuse(" is read in another way than its variable is stored");
      for (HeldDim &dim : held.dims) // what is written to a variable has zeros there
        dim.padding = HeldDim::Padding::Zero;
    }
    return held;
  }

  /// Whether a function finds, or leaves, a variable as all others do.
  bool isStoredSo(FlatSymbolRefAttr symbol, ShardingAttr sharding, RankedTensorType global) {
    auto variable = symbols.lookup<VariableOp>(symbol.getValue());
    if (!variable || variable.getTensorType().getShape() != global.getShape())
      return false;
    ShardingAttr storage = getStorage(variable);
    if (!storage)
      return sharding.isFullyReplicated() && sharding.getUnreduced().empty();
    auto agrees = [&](int64_t dim) { return storage.getAxes(dim) == sharding.getAxes(dim); };
    return llvm::all_of(llvm::seq<int64_t>(0, global.getRank()), agrees) &&
           sortNames(storage.getUnreduced()) == sortNames(sharding.getUnreduced());
  }

  static std::set<StringRef> sortNames(ArrayRef<StringAttr> axes) {
    std::set<StringRef> names;
    for (StringAttr axis : axes)
      names.insert(axis.getValue());
    return names;
  }

  /// Those over which ranks differ: an axis of size 1 cuts nothing, and nothing is pending over it.
  Axes dropTrivial(ArrayRef<StringAttr> axes) const {
    Axes left;
    for (StringAttr axis : axes)
      if (mesh.getSize(axis.getValue()) > 1)
        left.push_back(axis);
    return left;
  }

  LogicalResult read(func::FuncOp function, ShardingAttr sharding, RankedTensorType global, Held &held) {
    if (!sharding)
      return function.emitError("par-prove: @")
             << function.getName() << " has values without sharding; give a module behind par-partition";
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      HeldDim where;
      where.size = global.getDimSize(dim);
      where.axes = dropTrivial(sharding.getAxes(dim));
      held.dims.push_back(where);
    }
    held.pending = dropTrivial(sharding.getUnreduced());
    return success();
  }

  LogicalResult compare(func::FuncOp function, unsigned result, const Held &actual) {
    std::string name = nameResult(getPhase(function).getPhase(), function, result);
    SmallVector<Number> &numbers = expected[name];
    if (auto *at = llvm::find(numbers, actual.what); at != numbers.end())
      numbers.erase(at);
    else if (!llvm::is_contained(passing[name], actual.what))
      return refuseNumber(function, result, actual.what);
    Held declared;
    auto global = function.getResultAttrOfType<TypeAttr>(result, ParDialect::kGlobalTypeAttr);
    ShardingAttr sharding = getResultSharding(function, result);
    if (!global)
      return function.emitError("par-prove: ")
             << describe(function, result) << " has no " << ParDialect::kGlobalTypeAttr;
    auto type = cast<RankedTensorType>(global.getValue());
    if (failed(read(function, sharding, type, declared)))
      return failure();
    if (FlatSymbolRefAttr variable = getResultVariable(function, result);
        variable && !isStoredSo(variable, sharding, type))
      return function.emitError("par-prove: ")
             << describe(function, result) << " is written in another way than its variable is stored";
    return compareWhere(function, result, actual, declared);
  }

  LogicalResult refuseNumber(func::FuncOp function, unsigned result, const Number &wrong) {
    Operation *suspect = program.findSuspect(wrong);
    InFlightDiagnostic error = (suspect ? suspect : function.getOperation())->emitError("par-prove: ");
    error << describe(function, result) << " is not what one device computes";
    if (suspect)
      error << "; " << suspect->getName() << " is the first op whose result it has not";
    return error;
  }

  LogicalResult compareWhere(func::FuncOp function, unsigned result, const Held &actual,
                             const Held &declared) {
    auto refuse = [&](const Twine &why) {
      return function.emitError("par-prove: ") << describe(function, result) << why;
    };
    if (!actual.hasDims)
      return refuse(" is a tensor of which a rank holds several blocks");
    if (!actual.coordinates.empty())
      return refuse(" follows from the coordinates over " + quote(actual.coordinates));
    if (sortNames(actual.pending) != sortNames(declared.pending) || !actual.logPending.empty() ||
        !actual.extreme.empty())
      return refuse(" is pending over other axes than its sharding says");
    auto local = cast<RankedTensorType>(function.getResultTypes()[result]);
    for (auto [dim, is, says] : llvm::enumerate(actual.dims, declared.dims)) {
      bool isOpen = is.isConstant || is.size == HeldDim::kUnbounded;
      if ((!is.isConstant && is.axes != says.axes) || (!isOpen && is.size != says.size) ||
          local.getDimSize(dim) * countShards(says, mesh) < says.size)
        return refuse(" is cut in another way than its sharding says along dimension " + Twine(dim));
      bool isZero = actual.isZero() || (!is.isConstant && is.padding == HeldDim::Padding::Zero);
      if (getResultVariable(function, result) && !isZero && isPadded(says, local.getDimSize(dim), mesh))
        return refuse(" is written with padding along dimension " + Twine(dim) +
                      " that may hold anything, not zeros");
    }
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
  SymbolTable symbols;
  MeshAttr mesh;
  OpNumbers numbers;
  Reference reference;
  LocalProgram program;
  HandedOver<Number> givenNumbers;
  SmallVector<std::pair<std::pair<int64_t, FlatSymbolRefAttr>, Number>>
      writtenForward; ///< by chunk and variable
  HandedOver<Given> given;
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
