//===- Differentiator.cpp - differentiates all chunks of a module ---------------------------------------===//
#include "Differentiator.h"
#include "Emitter.h"

using namespace mlir;
using namespace mlir::par;

static std::string deriveName(const FunctionInfo &info, Phase phase) {
  return info.isChunk ? nameFor(info.function, phase)
                      : (info.function.getName() + "." + stringifyPhase(phase)).str();
}

namespace {

class Differentiator {
public:
  Differentiator(ModuleOp module, bool split, Type gradientType, const SaveChooser &choose)
      : module(module), split(split), gradientType(gradientType), choose(choose) {}
  LogicalResult run();

private:
  LogicalResult checkNames(const FunctionInfo &info);
  void createAccumulators(const FunctionInfo &info);
  LogicalResult differentiate(const FunctionInfo &info, const Activity &activity);
  LogicalResult splitBackward(const FunctionInfo &info, const Activity &activity, Derivative &derivative);
  void replaceOriginals(const Activity &activity);

  ModuleOp module;
  bool split;
  Type gradientType;
  const SaveChooser &choose;
  Derivatives derivatives;
  /// Chunk functions and what takes their place and name.
  SmallVector<std::pair<func::FuncOp, func::FuncOp>> replaced;
};

} // namespace

/// Derived names must be free, or symbols would be ambiguous.
LogicalResult Differentiator::checkNames(const FunctionInfo &info) {
  SmallVector<std::string> names = {deriveName(info, Phase::Backward), deriveName(info, Phase::BackwardInput),
                                    deriveName(info, Phase::BackwardWeight)};
  if (!info.isChunk)
    names.push_back(deriveName(info, Phase::Forward));
  for (StringRef name : names)
    if (Operation *other = module.lookupSymbol(name)) {
      InFlightDiagnostic error = other->emitError("@")
                                 << name << " is the name that the derivative of @" << info.function.getName()
                                 << " needs; rename this symbol";
      error.attachNote(info.function.getLoc()) << "the function that is differentiated";
      return error;
    }
  return success();
}

static void createState(OpBuilder &builder, Location location, StringRef name, RankedTensorType type,
                        ArrayAttr dims, VariableOp of) {
  MLIRContext *context = builder.getContext();
  auto variable = builder.create<VariableOp>(
      location, name, type, dims, Role::Accumulator, InitAttr::getZeros(context), FileAttr(), ShardingAttr(),
      ShardingAttr(), of ? FlatSymbolRefAttr::get(of) : FlatSymbolRefAttr(), FlatSymbolRefAttr(),
      MemorySpaceAttr());
  if (ShardingAttr storage = of ? getStateStorage(of, Role::Accumulator) : ShardingAttr()) {
    variable.setStorageAttr(storage);
    variable.setComputeAttr(storage);
  } else if (of && of.getComputeAttr()) {
    variable.setComputeAttr(getDimensionSharding(of.getComputeAttr()));
  }
}

/// `@w.accumulator` for every parameter of a chunk, `@loss`, and `@loss.balance` for its further losses.
void Differentiator::createAccumulators(const FunctionInfo &info) {
  OpBuilder builder(module.getContext());
  SymbolTable symbols(module);
  VariableOp last;
  for (VariableOp variable : module.getOps<VariableOp>())
    last = variable;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(module.getBody());
  for (unsigned index = 0; index < info.varied.size(); ++index) {
    if (!info.accumulated[index])
      continue;
    FlatSymbolRefAttr bind = getVariable(info.function, index);
    auto parameter = symbols.lookup<VariableOp>(bind.getAttr());
    std::string name = (bind.getValue() + ".accumulator").str();
    if (!symbols.lookup(name))
      createState(builder, parameter.getLoc(), name, parameter.getTensorType().clone(gradientType),
                  parameter.getDims(), parameter);
  }
  auto createLoss = [&](StringRef name) {
    if (!module.lookupSymbol(name))
      createState(builder, info.function.getLoc(), name, RankedTensorType::get({}, builder.getF32Type()),
                  builder.getStrArrayAttr({}), nullptr);
  };
  createLoss(kMainLoss);
  for (unsigned index = 0; index < info.function.getNumResults(); ++index)
    if (isLoss(info.function, index))
      createLoss(getLossVariable(getResultPlace(info.function, index)));
}

LogicalResult Differentiator::splitBackward(const FunctionInfo &info, const Activity &activity,
                                            Derivative &derivative) {
  JointFunction joint(info, gradientType);
  if (failed(joint.build(activity, derivatives, /*split=*/true)))
    return failure();
  FailureOr<SavePlan> plan = SavePlan::create(joint, choose(joint));
  if (failed(plan))
    return failure();
  Emitter(joint, *plan)
      .emitSplit(deriveName(info, Phase::BackwardInput), deriveName(info, Phase::BackwardWeight),
                 derivative.backwardInput, derivative.backwardWeight);
  return success();
}

LogicalResult Differentiator::differentiate(const FunctionInfo &info, const Activity &activity) {
  if (failed(checkNames(info)))
    return failure();
  if (info.isChunk)
    createAccumulators(info);
  Derivative derivative;
  derivative.numResults = info.function.getNumResults();
  {
    JointFunction joint(info, gradientType);
    if (failed(joint.build(activity, derivatives, /*split=*/false)))
      return failure();
    FailureOr<SavePlan> plan = SavePlan::create(joint, choose(joint));
    if (failed(plan))
      return failure();
    Emitter emitter(joint, *plan);
    derivative.forward = emitter.emitForward(deriveName(info, Phase::Forward));
    derivative.backward = emitter.emitBackward(deriveName(info, Phase::Backward));
  }
  if (split && failed(splitBackward(info, activity, derivative)))
    return failure();
  if (info.isChunk)
    replaced.emplace_back(info.function, derivative.forward);
  derivatives[info.function.getName()] = derivative;
  return success();
}

/// Chunk functions give way to their `forward`; layers stay where something else (logits) calls them.
void Differentiator::replaceOriginals(const Activity &activity) {
  SmallVector<func::FuncOp> layers;
  for (const FunctionInfo *info : activity.getCalleesFirst())
    if (!info->isChunk)
      layers.push_back(info->function);
  // Callers first, since a layer is in use while another calls it.
  std::reverse(layers.begin(), layers.end());
  for (auto &[original, forward] : replaced)
    original.erase();
  llvm::StringMap<int64_t> calls;
  module.walk([&](CallOp call) { ++calls[call.getCallee()]; });
  for (func::FuncOp layer : layers)
    if (!calls.lookup(layer.getSymName())) {
      layer.walk([&](CallOp call) { --calls[call.getCallee()]; });
      layer.erase();
    }
}

LogicalResult Differentiator::run() {
  FailureOr<Activity> activity = Activity::compute(module);
  if (failed(activity))
    return failure();
  for (const FunctionInfo *info : activity->getCalleesFirst())
    if (failed(differentiate(*info, *activity)))
      return failure();
  replaceOriginals(*activity);
  for (auto function : module.getOps<func::FuncOp>()) // a layer that something else calls
    clearMarks(function);
  return success();
}

LogicalResult par::differentiateModule(ModuleOp module, bool split, Type gradientType,
                                       const SaveChooser &choose) {
  return Differentiator(module, split, gradientType, choose).run();
}
