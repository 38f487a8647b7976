//===- JudgeDerivative.cpp - backward functions beside the graph's derivative ---------------------------===//
#include "ChainRule.h"
#include "HandedOver.h"
#include "Recursion.h"
#include "Reference.h"
#include "par/Judge/Judge.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Compares a graph's loss and its derivatives with what functions of a step add to variables.
class DerivativeJudge {
public:
  DerivativeJudge(ModuleOp graphModule, ModuleOp stepModule)
      : graphModule(graphModule), stepModule(stepModule), symbols(stepModule), rule(graphModule, numbers) {}

  LogicalResult run() {
    if (failed(findExpected()))
      return failure();
    if (failed(judgeCopies()))
      return failure();
    bool hasParts = ChunkFunctions(stepModule).has(Phase::BackwardInput);
    return success(
        succeeded(judge({Phase::Forward, Phase::Backward})) &&
        (!hasParts || succeeded(judge({Phase::Forward, Phase::BackwardInput, Phase::BackwardWeight}))));
  }

private:
  /// The graph's forward function; null after an error.
  func::FuncOp findForward() {
    SmallVector<func::FuncOp> forward = ChunkFunctions(graphModule).getAll(Phase::Forward);
    if (forward.size() == 1)
      return forward.front();
    graphModule.emitError("par-prove: the graph has ")
        << forward.size() << " forward functions, expected 1; give it as it was imported";
    return nullptr;
  }

  /// A gathered copy is the parameter.
  Number nameInput(PlaceAttr place) {
    auto copy =
        place.getVariable() ? symbols.lookup<VariableOp>(place.getVariable().getValue()) : VariableOp();
    if (copy && copy.getRole() == Role::Gathered && copy.getOfAttr())
      return numbers.getPlace(PlaceAttr::ofVariable(copy.getOfAttr()));
    return numbers.getPlace(place);
  }

  /// A function that writes a gathered copy writes the parameter.
  LogicalResult judgeCopies() {
    Reference step(stepModule, numbers);
    for (auto function : stepModule.getOps<func::FuncOp>()) {
      auto isCopy = [&](unsigned result) {
        FlatSymbolRefAttr variable = getResultVariable(function, result);
        auto written = variable ? symbols.lookup<VariableOp>(variable.getValue()) : VariableOp();
        return written && written.getRole() == Role::Gathered;
      };
      auto copies = llvm::make_filter_range(llvm::seq<unsigned>(0, function.getNumResults()), isCopy);
      if (copies.empty())
        continue;
      FailureOr<SmallVector<Number>> results = evaluate(step, {}, function);
      if (failed(results))
        return failure();
      for (unsigned result : copies)
        if ((*results)[result] != nameInput(PlaceAttr::ofVariable(getResultVariable(function, result))))
          return refuse(function, result, "is not the parameter");
    }
    return success();
  }

  /// The cotangent of a loss: the step's scale, times the weight of a loss that has one.
  Number nameSeed(PlaceAttr place) {
    Number scale = nameInput(PlaceAttr::ofInput(graphModule.getContext(), InputKind::LossScale));
    return hasWeight(place) ? scale * nameInput(PlaceAttr::ofLossWeight(place)) : scale;
  }

  /// Finds what a micro-batch adds to every variable: losses, and gradients of trained parameters.
  LogicalResult findExpected() {
    func::FuncOp forward = findForward();
    if (!forward || failed(readAccumulators(forward)))
      return failure();
    SmallVector<Number> arguments;
    SmallVector<bool> varied;
    for (unsigned argument = 0; argument < forward.getNumArguments(); ++argument) {
      PlaceAttr place = getPlace(forward, argument);
      if (!place)
        return refusePlace(forward, argument);
      arguments.push_back(nameInput(place));
      varied.push_back(accumulators.count(getVariable(forward, argument)));
    }
    std::unique_ptr<ChainRule::Frame> frame = rule.run(forward, arguments, varied);
    if (!frame)
      return forward.emitError("par-prove: the graph calls a function in parts, or one that it lacks");
    FailureOr<ChainRule::Cotangents> gradients = rule.pullBack(*frame, readLosses(forward, frame->results));
    if (failed(gradients))
      return failure();
    for (unsigned argument = 0; argument < forward.getNumArguments(); ++argument)
      if (varied[argument]) {
        Number &sum = expected[accumulators[getVariable(forward, argument)]];
        sum = sum + (*gradients)[argument].value_or(Number());
      }
    return success();
  }

  /// Finds the accumulator of every parameter; one that is trained and read has one.
  LogicalResult readAccumulators(func::FuncOp forward) {
    for (auto variable : stepModule.getOps<VariableOp>())
      if (variable.getRole() == Role::Accumulator && variable.getOfAttr()) {
        accumulators[variable.getOfAttr()] = variable.getSymName().str();
        expected[variable.getSymName().str()] = Number();
      }
    for (unsigned argument = 0; argument < forward.getNumArguments(); ++argument) {
      FlatSymbolRefAttr symbol = getVariable(forward, argument);
      auto parameter = symbol ? symbols.lookup<VariableOp>(symbol.getValue()) : VariableOp();
      if (parameter && parameter.isTrained() && !accumulators.count(symbol))
        return parameter.emitError("par-prove: @")
               << parameter.getSymName() << " is trained, but no accumulator is of it";
    }
    return success();
  }

  /// Expects the losses of their variables, and gives their cotangents: none of a loss that has no gradient.
  ChainRule::Cotangents readLosses(func::FuncOp forward, ArrayRef<Number> results) {
    ChainRule::Cotangents seeds(results.size());
    for (unsigned result = 0; result < results.size(); ++result)
      if (isLoss(forward, result)) {
        PlaceAttr place = getResultPlace(forward, result);
        expected[getLossVariable(place)] = results[result];
        if (!place.getLoss() || hasWeight(place))
          seeds[result] = nameSeed(place);
      }
    return seeds;
  }

  /// A result of a function that updates a variable.
  struct Update {
    func::FuncOp function;
    unsigned result;
    Number number;
  };

  /// Functions of these phases together add what the graph says to variables, whatever was there.
  LogicalResult judge(ArrayRef<Phase> phases) {
    std::map<std::string, SmallVector<Update, 1>> updates; // by variable
    HandedOver<Number> given;
    Reference step(stepModule, numbers);
    for (func::FuncOp function : HandedOver<Number>::sortFunctions(stepModule)) {
      if (!llvm::is_contained(phases, getPhase(function).getPhase()))
        continue;
      FailureOr<SmallVector<Number>> results = evaluate(step, given, function);
      if (failed(results))
        return failure();
      for (auto [result, number] : llvm::enumerate(*results)) {
        given.give(function, result, number);
        if (FlatSymbolRefAttr variable = getResultVariable(function, result))
          updates[variable.getValue().str()].push_back({function, static_cast<unsigned>(result), number});
      }
    }
    for (const auto &[name, number] : expected) {
      ArrayRef<Update> ofVariable = updates[name];
      if (ofVariable.empty() && number != Number())
        return stepModule.emitError("par-prove: nothing is added to @") << name;
      if (!addUp(ofVariable, number))
        return refuse(
            ofVariable.front().function, ofVariable.front().result,
            "is not beta times what was there, and what the graph says: its loss, or the derivative of that");
    }
    return success();
  }

  /// Whether updates are `number` in all, and each beta times what was there: the beta of a function's own
  /// variables, or of those that several chunks share.
  bool addUp(ArrayRef<Update> updates, const Number &number) {
    if (updates.empty())
      return number == Number();
    FlatSymbolRefAttr variable = getResultVariable(updates.front().function, updates.front().result);
    Number before = nameInput(PlaceAttr::ofVariable(variable)), kept;
    for (const Update &update : updates)
      kept = kept + update.number;
    kept = kept - number;
    auto count = static_cast<int64_t>(updates.size());
    auto beta = [&](InputKind kind, int64_t times) {
      return Number::ofInteger(times) * nameInput(PlaceAttr::ofInput(graphModule.getContext(), kind)) *
             before;
    };
    return llvm::any_of(llvm::seq<int64_t>(0, count + 1), [&](int64_t own) {
      return kept == beta(InputKind::Beta, own) + beta(InputKind::SharedBeta, count - own);
    });
  }

  FailureOr<SmallVector<Number>> evaluate(Reference &step, const HandedOver<Number> &given,
                                          func::FuncOp function) {
    SmallVector<Number> arguments;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      PlaceAttr place = getPlace(function, argument);
      const Number *number = given.find(function, argument);
      if (!number && !place)
        return refusePlace(function, argument);
      arguments.push_back(number ? *number : nameInput(place));
    }
    return step.evaluate(function, arguments);
  }

  static LogicalResult refusePlace(func::FuncOp function, unsigned argument) {
    return function.emitError("par-prove: argument ")
           << argument << " of @" << function.getName() << " has no place";
  }

  static LogicalResult refuse(func::FuncOp function, unsigned result, const Twine &why) {
    return function.emitError("par-prove: result ") << result << " (" << getResultPlace(function, result)
                                                    << ") of @" << function.getName() << " " << why;
  }

  ModuleOp graphModule, stepModule;
  SymbolTable symbols;
  OpNumbers numbers;
  ChainRule rule;
  llvm::DenseMap<Attribute, std::string> accumulators; ///< by parameter
  std::map<std::string, Number> expected;              ///< by variable
};
} // namespace

LogicalResult mlir::par::judgeDerivative(ModuleOp graph, ModuleOp step) {
  if (failed(refuseRecursion(graph)) || failed(refuseRecursion(step)))
    return failure();
  return DerivativeJudge(graph, step).run();
}
