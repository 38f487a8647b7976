//===- JudgeFunctions.cpp - chunk functions of a rank beside those of one device ------------------------===//
#include "HandedOver.h"
#include "LocalProgram.h"
#include "Recursion.h"
#include "par/Judge/Judge.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Chunk functions of two modules. What they write and give back is compared by its place, that of a chunk's
/// forward and backward functions together: a pass may move work from one to the other.
class FunctionsJudge {
public:
  FunctionsJudge(ModuleOp referenceModule, ModuleOp programModule, MeshAttr mesh)
      : programModule(programModule), referenceFunctions(referenceModule), programFunctions(programModule),
        symbols(programModule), mesh(mesh), reference(referenceModule, numbers),
        program(programModule, mesh, numbers, reference) {}

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

  /// A result is called the same in both modules. The name has the phase, all functions that a micro-batch
  /// runs being one; the chunk; whether it is a cotangent, as boundaries of forward and backward functions
  /// have the same numbers; its place, or its function and number.
  using ResultName = std::tuple<Phase, int64_t, bool, const void *, unsigned>;

  static ResultName nameResult(Phase phase, func::FuncOp function, unsigned result) {
    bool isCotangent = getResultBoundary(function, result) && isBackward(phase);
    if (isBackward(phase))
      phase = Phase::Forward;
    PlaceAttr place = getResultPlace(function, result);
    if (place)
      return {phase, getChunk(function), isCotangent, place.getAsOpaquePointer(), 0};
    return {phase, getChunk(function), false, function.getNameAttr().getAsOpaquePointer(), result};
  }

  /// A result of a forward function of the reference that the program has elsewhere.
  struct Moved {
    int64_t chunk;
    FlatSymbolRefAttr variable;
    ResultName name;
    Number number;
  };

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

  /// Whether the program does all that the reference does. A backward pass is whole or in two parts there,
  /// and has both forms in the reference.
  LogicalResult checkPhases(ArrayRef<func::FuncOp> functions) {
    std::set<std::pair<Phase, int64_t>> done;
    for (func::FuncOp function : functions)
      for (Phase phase : getPhases(function))
        done.insert({phase, getChunk(function)});
    for (func::FuncOp function : referenceFunctions.getAll()) {
      PhaseAttr phase = getPhase(function);
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

  /// Whether a function is one that every micro-batch runs behind the forward one, or its alternative for the
  /// last.
  static bool isBehindForward(func::FuncOp function) {
    return isPhase(function, Phase::Backward) || isPhase(function, Phase::BackwardLast) ||
           isPhase(function, Phase::BackwardInput);
  }

  /// Whether a pass moved what the reference's forward function writes to a variable into the program's
  /// backward ones.
  bool isMoved(int64_t chunk, FlatSymbolRefAttr variable) {
    bool hasForward = false, isInAll = true, isInAny = false;
    for (func::FuncOp function : programFunctions.getAll())
      if (getChunk(function) == chunk) {
        bool isWritten = writes(function, variable);
        hasForward |= isPhase(function, Phase::Forward) && isWritten;
        isInAll &= isWritten || !isBehindForward(function);
        isInAny |= isWritten && isBehindForward(function);
      }
    return !hasForward && isInAll && isInAny;
  }

  /// Variables that a backward function writes in the forward one's place; they are expected of it.
  llvm::DenseMap<Attribute, Number> takeMoved(func::FuncOp local) {
    llvm::DenseMap<Attribute, Number> taken;
    for (const Moved &result : moved)
      if (result.chunk == getChunk(local) && isBehindForward(local)) {
        taken[result.variable] = result.number;
        expected[result.name].push_back(result.number);
      }
    return taken;
  }

  LogicalResult evaluateReference(func::FuncOp local) {
    // Variables, by those of its functions that came before.
    llvm::DenseMap<Attribute, Number> written = takeMoved(local);
    SmallVector<std::pair<ResultName, Number>> results;
    std::set<Number> read; // of these, by others of its functions
    for (Phase phase : getPhases(local)) {
      func::FuncOp function = referenceFunctions.find(phase, getChunk(local));
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
        FlatSymbolRefAttr variable = getResultVariable(function, result);
        if (variable)
          written[variable] = number;
        if (getResultResidual(function, result))
          continue;
        ResultName name = nameResult(getPhase(local).getPhase(), function, result);
        named.try_emplace(name, function, result);
        if (variable && phase == Phase::Forward && isMoved(getChunk(local), variable))
          moved.push_back({getChunk(local), variable, name, number});
        else
          results.push_back({name, number});
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

  LogicalResult read(func::FuncOp function, ShardingAttr sharding, RankedTensorType global, Held &held) {
    if (!sharding)
      return function.emitError("par-prove: @")
             << function.getName() << " has values without sharding; give a module behind par-partition";
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      HeldDim where;
      where.size = global.getDimSize(dim);
      where.axes = dropTrivial(sharding.getAxes(dim), mesh);
      held.dims.push_back(where);
    }
    held.pending = dropTrivial(sharding.getUnreduced(), mesh);
    return success();
  }

  LogicalResult compare(func::FuncOp function, unsigned result, const Held &actual) {
    ResultName name = nameResult(getPhase(function).getPhase(), function, result);
    SmallVector<Number, 1> &numbers = expected[name];
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
        return programModule.emitError("par-prove: no rank computes what one device has as ")
               << describe(named[name].first, named[name].second);
    return success();
  }

  ModuleOp programModule;
  ChunkFunctions referenceFunctions, programFunctions;
  SymbolTable symbols;
  MeshAttr mesh;
  OpNumbers numbers;
  Reference reference;
  LocalProgram program;
  HandedOver<Number> givenNumbers;
  SmallVector<Moved> moved;
  HandedOver<Given> given;
  std::map<ResultName, std::pair<func::FuncOp, unsigned>> named; ///< results of one device
  std::map<ResultName, SmallVector<Number, 1>> expected; ///< results of one device that no rank has given yet
  std::map<ResultName, SmallVector<Number, 1>>
      passing; ///< those that a function joined with another may keep
};
} // namespace

LogicalResult mlir::par::judgeFunctions(ModuleOp reference, ModuleOp program) {
  MeshAttr mesh = getMesh(program);
  if (!mesh)
    return program.emitError("par-prove: the program has no par.mesh; give a module behind par-partition");
  if (failed(refuseRecursion(reference)) || failed(refuseRecursion(program)))
    return failure();
  return FunctionsJudge(reference, program, mesh).run();
}
