//===- TrainInterpreter.cpp - evaluates training steps of a module --------------------------------------===//
#include "par/Interpreter/TrainInterpreter.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Interpreter/ShardTensor.h"

using namespace mlir;
using namespace mlir::par;

/// One place of a chunk function, with what its attributes say.
struct TrainInterpreter::Place {
  Place(func::FuncOp function, bool isResult, unsigned number)
      : function(function), isResult(isResult), number(number),
        type(cast<RankedTensorType>(isResult ? function.getResultTypes()[number]
                                             : function.getArgumentTypes()[number])),
        attributes(isResult ? function.getResultAttrDict(number) : function.getArgAttrDict(number)) {}

  template <typename T>
  T get(StringRef name) const {
    return attributes ? attributes.getAs<T>(name) : T();
  }
  PlaceAttr getPlace() const { return get<PlaceAttr>(ParDialect::kPlaceAttr); }
  FlatSymbolRefAttr getVariable() const { return getPlace() ? getPlace().getVariable() : nullptr; }
  bool isLocal() const { return function->hasAttr(ParDialect::kLocalAttr); }
  /// Null in a module that is not partitioned: shardings are then only plans.
  ShardingAttr getSharding() const {
    return isLocal() ? get<ShardingAttr>(ParDialect::kShardingAttr) : ShardingAttr();
  }
  RankedTensorType getGlobalType() const {
    auto attribute = get<TypeAttr>(ParDialect::kGlobalTypeAttr);
    return attribute ? cast<RankedTensorType>(attribute.getValue()) : type;
  }
  InFlightDiagnostic error() const {
    return function.emitError("cannot interpret @")
           << function.getName() << ": " << (isResult ? "result " : "argument ") << number << " ";
  }

  mutable func::FuncOp function;
  bool isResult;
  unsigned number;
  RankedTensorType type;
  DictionaryAttr attributes;
};

//===----------------------------------------------------------------------===//
// The functions of a module
//===----------------------------------------------------------------------===//

std::unique_ptr<TrainInterpreter> TrainInterpreter::create(ModuleOp module, StringRef schedule) {
  bool local = false, global = false;
  for (auto function : module.getOps<func::FuncOp>())
    (function->hasAttr(ParDialect::kLocalAttr) ? local : global) |= !function.isExternal();
  if (local && global) {
    module.emitError(
        "cannot interpret: some functions are local (par.local) and some are not; run par-partition on all");
    return nullptr;
  }
  MeshAttr mesh = local ? getMesh(module) : MeshAttr();
  if (local && !mesh) {
    module.emitError("cannot interpret: functions are local but the module has no par.mesh");
    return nullptr;
  }
  std::unique_ptr<TrainInterpreter> train(new TrainInterpreter(module, mesh));
  PlanAttr plan = getPlan(module);
  train->schedule =
      schedule.empty() ? getName(plan ? plan.getPlan().schedule : Plan().schedule).str() : schedule.str();
  return succeeded(train->findFunctions()) ? std::move(train) : nullptr;
}

LogicalResult TrainInterpreter::findFunctions() {
  for (func::FuncOp function : functions.getAll()) {
    if (getChunk(function) != functions.getChunks().front())
      return function.emitError("cannot interpret @")
             << function.getName() << ": the module has " << functions.getChunks().size()
             << " chunks, expected 1; pipelines are not built";
    if (failed(refuseBoundaries(function, "cannot interpret")) || failed(bindVariables(function)))
      return failure();
  }
  if (!functions.getChunks().empty())
    chunk = functions.getChunks().front();
  parts = {functions.has(Phase::Gather), functions.isDifferentiated(), functions.has(Phase::BackwardLast)};
  // A module may exist for its logits alone.
  if (!functions.has(Phase::Forward) && functions.has(Phase::Logits))
    return success();
  auto splits = [](const Action &action) { return action.kind == ActionKind::BackwardInput; };
  FailureOr<std::vector<Action>> one = listActions(1);
  if (failed(one))
    return failure();
  hasBackward = functions.has(Phase::Backward) || llvm::any_of(*one, splits);
  // As a step of several micro-batches needs them; par-fuse-reduction may leave the last one's backward
  // function only.
  for (const Action &action : parts.reducesInLast && !hasBackward ? *one : *listActions(2))
    if (!find(action.kind))
      return module.emitError("cannot interpret: the module has no function of phase ")
             << stringifyActionKind(action.kind);
  return success();
}

FailureOr<std::vector<Action>> TrainInterpreter::listActions(int64_t microBatches) {
  if (!parts.updates)
    return buildForwardOnly(ActionKind::Forward, microBatches);
  llvm::Expected<PipelineSchedule> list = buildSchedule(schedule, {1, microBatches, 1});
  if (!list)
    return LogicalResult(module.emitError("cannot interpret: ") << llvm::toString(list.takeError()));
  return completeStep(std::move(*list), parts).stages.front();
}

func::FuncOp TrainInterpreter::find(ActionKind kind) const {
  return functions.find(static_cast<Phase>(kind), chunk);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

LogicalResult TrainInterpreter::bindVariables(func::FuncOp function) {
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (failed(bindVariable(Place(function, false, number))))
      return failure();
  for (unsigned number = 0; number < function.getNumResults(); ++number)
    if (failed(bindVariable(Place(function, true, number))))
      return failure();
  return success();
}

LogicalResult TrainInterpreter::bindVariable(const Place &place) {
  if (place.isLocal() && !place.get<ShardingAttr>(ParDialect::kShardingAttr))
    return place.error() << "of a local function has no par.sharding";
  FlatSymbolRefAttr symbol = place.getVariable();
  if (!symbol)
    return success();
  auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(module, symbol);
  State &state = states[symbol.getValue().str()];
  if (!state.variable) {
    state = {variable, place.getSharding(), place.type,
             Tensors(interpreter.getNumRanks(), Tensor(place.type))};
    return success();
  }
  if (state.sharding == place.getSharding() && state.localType == place.type)
    return success();
  InFlightDiagnostic diagnostic = place.error();
  diagnostic << "binds " << symbol << " as " << place.type << " " << place.getSharding()
             << ", another function binds it as " << state.localType << " " << state.sharding;
  diagnostic.attachNote(variable.getLoc()) << "the variable";
  return diagnostic;
}

bool TrainInterpreter::setVariable(StringRef name, const Tensor &value) {
  auto found = states.find(name.str());
  if (found == states.end() || value.shape() != found->second.variable.getTensorType().getShape())
    return false;
  State &state = found->second;
  Tensor global = value;
  global.type = state.variable.getTensorType();
  if (interpreter.isRounding())
    global.round();
  state.shards = state.sharding ? shardTensor(global, state.sharding, interpreter.getMesh(), state.localType)
                                : Tensors{global};
  return true;
}

std::optional<Tensor> TrainInterpreter::getVariable(StringRef name) {
  auto found = states.find(name.str());
  if (found == states.end())
    return std::nullopt;
  State &state = found->second;
  return unshard(state.shards, state.sharding, state.variable.getTensorType());
}

std::map<std::string, Tensor> TrainInterpreter::getVariables(Role role) {
  std::map<std::string, Tensor> values;
  for (auto &[name, state] : states)
    if (state.variable.getRole() == role)
      values[name] = *getVariable(name);
  return values;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

FailureOr<TrainResult> TrainInterpreter::step(const TrainStep &step) {
  if (!find(ActionKind::Forward))
    return module.emitError("cannot interpret: the module has no function of phase forward");
  outputs.clear();
  residuals.clear();
  accumulation.emplace(module);
  double lossSum = 0.0;
  auto microBatches = static_cast<int64_t>(step.tokens.size());
  if (parts.reducesInLast && !hasBackward && microBatches > 1)
    return module.emitError("cannot interpret: a step of ")
           << microBatches << " micro-batches, but only the last one has a backward function";
  FailureOr<std::vector<Action>> actions = listActions(microBatches);
  if (failed(actions))
    return failure();
  for (const Action &action : *actions) {
    if (failed(runFunction(find(action.kind), step, std::max<int64_t>(action.microBatch, 0))))
      return failure();
    // Only a graph gives the loss of each micro-batch; @reduce gives that of the step.
    if (auto loss = outputs.find(OutputKind::Loss); !parts.updates && loss != outputs.end())
      lossSum += loss->second.scalar();
    if (action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardWeight)
      residuals.erase(action.microBatch);
  }
  TrainResult result;
  if (!parts.updates) {
    result.loss = lossSum / countTargets(step);
    return result;
  }
  for (OutputKind output : {OutputKind::Loss, OutputKind::GradNorm})
    if (!outputs.count(output))
      return module.emitError("cannot interpret: no function has a result that is #par.place<output ")
             << stringifyOutputKind(output) << ">";
  result.loss = outputs.at(OutputKind::Loss).scalar();
  result.gradNorm = outputs.at(OutputKind::GradNorm).scalar();
  return result;
}

FailureOr<Tensor> TrainInterpreter::logits(const Tensor &tokens) {
  func::FuncOp logitsFunction = find(ActionKind::Logits);
  if (!logitsFunction)
    return module.emitError("cannot interpret: the module has no function of phase logits");
  TrainStep step;
  step.tokens = {tokens};
  outputs.clear();
  if (failed(runFunction(logitsFunction, step, 0)))
    return failure();
  auto found = outputs.find(OutputKind::Logits);
  if (found == outputs.end())
    return logitsFunction.emitError("cannot interpret @")
           << logitsFunction.getName() << ": no result is #par.place<output logits>";
  return found->second;
}

LogicalResult TrainInterpreter::runFunction(func::FuncOp function, const TrainStep &step,
                                            int64_t microBatch) {
  FailureOr<bool> first = accumulation->begin(function);
  if (failed(first))
    return failure();
  isFirst = *first;
  std::vector<Tensors> arguments(interpreter.getNumRanks());
  for (unsigned number = 0; number < function.getNumArguments(); ++number) {
    FailureOr<Tensors> values = supply(Place(function, false, number), step, microBatch);
    if (failed(values))
      return failure();
    for (auto [rank, value] : llvm::enumerate(*values))
      arguments[rank].push_back(std::move(value));
  }
  FailureOr<std::vector<Tensors>> results = interpreter.run(function, std::move(arguments));
  if (failed(results))
    return failure();
  for (unsigned number = 0; number < function.getNumResults(); ++number) {
    Tensors values;
    for (Tensors &tensors : *results)
      values.push_back(std::move(tensors[number]));
    if (failed(take(Place(function, true, number), std::move(values), microBatch)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

FailureOr<Tensors> TrainInterpreter::supply(const Place &place, const TrainStep &step, int64_t microBatch) {
  if (FlatSymbolRefAttr symbol = place.getVariable())
    return states[symbol.getValue().str()].shards;
  PlaceAttr source = place.getPlace();
  if (!source)
    return place.error() << "has no par.place";
  if (std::optional<int64_t> number = source.getResidual()) {
    const std::map<int64_t, Tensors> &saved = residuals[microBatch];
    auto found = saved.find(*number);
    if (found == saved.end())
      return place.error() << "is residual " << *number << ", which no function before it has saved";
    return found->second;
  }
  InputKind input = *source.getInput();
  FailureOr<Tensor> global =
      makeInput(input, place.getGlobalType(), step, microBatch, isFirst, [&] { return place.error(); });
  if (failed(global))
    return failure();
  return shard(*global, place.getSharding(), place.type, getInputFill(input));
}

LogicalResult TrainInterpreter::take(const Place &place, Tensors values, int64_t microBatch) {
  PlaceAttr target = place.getPlace();
  if (target && target.getOutput())
    outputs.insert_or_assign(*target.getOutput(),
                             unshard(values, place.getSharding(), place.getGlobalType()));
  if (target && target.getResidual() && !residuals[microBatch].emplace(*target.getResidual(), values).second)
    return place.error() << "saves residual " << *target.getResidual() << " a second time";
  if (FlatSymbolRefAttr symbol = place.getVariable())
    states[symbol.getValue().str()].shards = std::move(values);
  return success();
}
