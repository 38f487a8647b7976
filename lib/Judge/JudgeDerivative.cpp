//===- JudgeDerivative.cpp - backward functions beside the graph's derivative ---------------------------===//
#include "ChainRule.h"
#include "HandedOver.h"
#include "Reference.h"
#include "par/Judge/Judge.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// A graph's loss and its derivatives, and what functions of a step add to variables.
class DerivativeJudge {
public:
  DerivativeJudge(ModuleOp graphModule, ModuleOp stepModule)
      : graphModule(graphModule), stepModule(stepModule), symbols(stepModule), rule(graphModule, numbers) {}

  LogicalResult run() {
    if (failed(findExpected()))
      return failure();
    if (failed(judgeCopies()))
      return failure();
    bool hasParts = false;
    for (auto function : stepModule.getOps<func::FuncOp>())
      hasParts |= isPhase(function, Phase::BackwardInput);
    return success(
        succeeded(judge({Phase::Forward, Phase::Backward})) &&
        (!hasParts || succeeded(judge({Phase::Forward, Phase::BackwardInput, Phase::BackwardWeight}))));
  }

private:
  /// The graph's forward function; null after an error.
  func::FuncOp findForward() {
    func::FuncOp forward;
    for (auto function : graphModule.getOps<func::FuncOp>())
      if (isPhase(function, Phase::Forward)) {
        if (forward)
          return function.emitError("par-prove: the graph is cut already; give it as it was imported"),
                 nullptr;
        forward = function;
      }
    if (!forward)
      graphModule.emitError("par-prove: the graph has no forward function");
    return forward;
  }

  /// A gathered copy is the parameter.
  Number nameInput(PlaceAttr place) {
    auto copy =
        place.getVariable() ? symbols.lookup<VariableOp>(place.getVariable().getValue()) : VariableOp();
    if (copy && copy.getRole() == Role::Gathered && copy.getOfAttr())
      return numbers.getPlace(PlaceAttr::ofVariable(copy.getOfAttr()));
    return numbers.getPlace(place);
  }

  /// What is written to a gathered copy is the parameter.
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
      FailureOr<SmallVector<Number>> results = evaluate(step, {}, function, /*fromZero=*/false);
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

  /// What a micro-batch adds to every variable: losses, and gradients of parameters with an accumulator.
  LogicalResult findExpected() {
    func::FuncOp forward = findForward();
    if (!forward)
      return failure();
    llvm::DenseMap<Attribute, StringRef> accumulators; // by parameter
    for (auto variable : stepModule.getOps<VariableOp>())
      if (variable.getRole() == Role::Accumulator && variable.getOfAttr())
        accumulators[variable.getOfAttr()] = variable.getSymName();
    SmallVector<Number> arguments;
    SmallVector<bool> varied;
    for (unsigned argument = 0; argument < forward.getNumArguments(); ++argument) {
      PlaceAttr place = getPlace(forward, argument);
      if (!place)
        return forward.emitError("par-prove: argument ")
               << argument << " of @" << forward.getName() << " has no place";
      arguments.push_back(nameInput(place));
      FlatSymbolRefAttr variable = getVariable(forward, argument);
      varied.push_back(variable && accumulators.count(variable));
    }
    std::unique_ptr<ChainRule::Frame> frame = rule.run(forward, arguments, varied);
    if (!frame)
      return forward.emitError("par-prove: the graph calls a function in parts, or one that it lacks");
    ChainRule::Cotangents seeds(forward.getNumResults());
    for (unsigned result = 0; result < forward.getNumResults(); ++result)
      if (isLoss(forward, result)) {
        PlaceAttr place = getResultPlace(forward, result);
        expected[getLossVariable(place)] = frame->results[result];
        if (!place.getLoss() || hasWeight(place))
          seeds[result] = nameSeed(place);
      }
    FailureOr<ChainRule::Cotangents> gradients = rule.pullBack(*frame, seeds);
    if (failed(gradients))
      return failure();
    for (const auto &[variable, accumulator] : accumulators)
      expected[accumulator.str()] = Number();
    for (unsigned argument = 0; argument < forward.getNumArguments(); ++argument)
      if (varied[argument] && (*gradients)[argument]) {
        std::string name = accumulators[getVariable(forward, argument)].str();
        expected[name] = expected[name] + *(*gradients)[argument];
      }
    return success();
  }

  /// The sum of what functions of these phases add to variables is what the graph says, whatever was there.
  LogicalResult judge(ArrayRef<Phase> phases) {
    std::map<std::string, Number> added;
    HandedOver<Number> given;
    Reference step(stepModule, numbers);
    func::FuncOp last;
    for (func::FuncOp function : HandedOver<Number>::sortFunctions(stepModule)) {
      if (!llvm::is_contained(phases, getPhase(function).getPhase()))
        continue;
      last = function;
      FailureOr<SmallVector<Number>> results = evaluate(step, given, function, /*fromZero=*/true);
      FailureOr<SmallVector<Number>> onTop =
          failed(results) ? results : evaluate(step, given, function, /*fromZero=*/false);
      if (failed(onTop))
        return failure();
      for (auto [result, number] : llvm::enumerate(*results)) {
        given.give(function, result, number);
        FlatSymbolRefAttr variable = getResultVariable(function, result);
        if (!variable)
          continue;
        Number &sum = added[variable.getValue().str()];
        sum = sum + number;
        if (!isBetaTimes(function, variable, (*onTop)[result] - number))
          return refuse(function, result, "is not beta times what was there, and the derivative");
      }
    }
    for (const auto &[name, number] : expected)
      if (auto at = added.find(name); at == added.end() ? number != Number() : at->second != number)
        return (last ? last.getOperation() : stepModule.getOperation())->emitError("par-prove: @")
               << name << " does not get what the graph says: its loss, or the derivative of that";
    return success();
  }

  FailureOr<SmallVector<Number>> evaluate(Reference &step, const HandedOver<Number> &given,
                                          func::FuncOp function, bool fromZero) {
    SmallVector<Number> arguments;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      FlatSymbolRefAttr variable = getVariable(function, argument);
      const Number *number = given.find(function, argument);
      if (variable && fromZero && expected.count(variable.getValue().str()))
        arguments.push_back(Number());
      else if (number)
        arguments.push_back(*number);
      else if (PlaceAttr place = getPlace(function, argument))
        arguments.push_back(nameInput(place));
      else
        return function.emitError("par-prove: argument ")
               << argument << " of @" << function.getName() << " has no place";
    }
    return step.evaluate(function, arguments);
  }

  /// Of the betas that a function gets: that of its variables, or of those that several chunks share.
  bool isBetaTimes(func::FuncOp function, FlatSymbolRefAttr variable, const Number &number) {
    Number before = nameInput(PlaceAttr::ofVariable(variable));
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      std::optional<InputKind> input = getInput(function, argument);
      if ((input == InputKind::Beta || input == InputKind::SharedBeta) &&
          number == nameInput(getPlace(function, argument)) * before)
        return true;
    }
    return false;
  }

  static LogicalResult refuse(func::FuncOp function, unsigned result, const Twine &why) {
    return function.emitError("par-prove: result ") << result << " (" << getResultPlace(function, result)
                                                    << ") of @" << function.getName() << " " << why;
  }

  ModuleOp graphModule, stepModule;
  SymbolTable symbols;
  OpNumbers numbers;
  ChainRule rule;
  std::map<std::string, Number> expected; ///< by variable
};
} // namespace

LogicalResult mlir::par::judgeDerivative(ModuleOp graph, ModuleOp step) {
  return DerivativeJudge(graph, step).run();
}
