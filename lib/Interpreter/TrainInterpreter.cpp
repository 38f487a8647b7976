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
  for (func::FuncOp function : functions.getAll())
    if (failed(bindVariables(function)))
      return failure();
  ArrayRef<int64_t> chunks = functions.getChunks();
  if (!chunks.empty() && chunks.back() + 1 != static_cast<int64_t>(chunks.size()))
    return module.emitError("cannot interpret: the module has functions of ")
           << chunks.size() << " chunks, but also of chunk " << chunks.back()
           << "; expected chunks numbered from 0 without gaps";
  parts = {functions.has(Phase::Gather), functions.isDifferentiated(), functions.getReducedInLast()};
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
  for (const Action &action : !parts.reducesInLast.empty() && !hasBackward ? *one : *listActions(2))
    if (!find(action))
      return module.emitError("cannot interpret: the module has no function of phase ")
             << stringifyActionKind(action.kind) << " and chunk " << action.chunk;
  return success();
}

/// Of several chunks, all of them one after the other in plain order: which stage does what when makes no
/// difference to what they compute. Of one, the plan's schedule.
FailureOr<std::vector<Action>> TrainInterpreter::listActions(int64_t microBatches) {
  auto chunks = static_cast<int64_t>(functions.getChunks().size());
  if (chunks > 1)
    return listPlainly(microBatches);
  if (!parts.updates)
    return buildForwardOnly(ActionKind::Forward, microBatches, {0}).stages.front();
  llvm::Expected<PipelineSchedule> list = buildSchedule(schedule, {1, microBatches, 1});
  if (!list)
    return LogicalResult(module.emitError("cannot interpret: ") << llvm::toString(list.takeError()));
  return completeStep(std::move(*list), parts).stages.front();
}

/// Micro-batch by micro-batch, forward through all chunks and back.
std::vector<Action> TrainInterpreter::listPlainly(int64_t microBatches) const {
  std::vector<Action> actions;
  auto chunks = static_cast<int64_t>(functions.getChunks().size());
  auto addForAll = [&](ActionKind kind, int64_t microBatch) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      actions.push_back({kind, chunk, microBatch});
  };
  if (parts.gathers)
    addForAll(ActionKind::Gather, -1);
  for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch) {
    addForAll(ActionKind::Forward, microBatch);
    for (int64_t chunk = parts.updates ? chunks : 0; chunk-- > 0;)
      for (ActionKind kind : listBackward(chunk, microBatch + 1 == microBatches))
        actions.push_back({kind, chunk, microBatch});
  }
  if (!parts.updates)
    return actions;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    if (functions.find(Phase::Reduce, chunk))
      actions.push_back({ActionKind::Reduce, chunk, -1});
  addForAll(ActionKind::Norm, -1);
  addForAll(ActionKind::Update, -1);
  return actions;
}

/// Both parts where the chunk has them: then they are what runs.
SmallVector<ActionKind, 2> TrainInterpreter::listBackward(int64_t chunk, bool isLast) const {
  if (isLast && functions.find(Phase::BackwardLast, chunk))
    return {ActionKind::BackwardLast};
  if (isLast && functions.find(Phase::BackwardWeightLast, chunk))
    return {ActionKind::BackwardInput, ActionKind::BackwardWeightLast};
  if (functions.find(Phase::BackwardInput, chunk))
    return {ActionKind::BackwardInput, ActionKind::BackwardWeight};
  return {ActionKind::Backward};
}

func::FuncOp TrainInterpreter::find(const Action &action) const {
  return functions.find(static_cast<Phase>(action.kind), action.chunk);
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
  State &state = states[{getStage(place.function), symbol.getValue().str()}];
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
  bool found = false;
  for (auto &[key, state] : states) {
    if (key.second != name)
      continue;
    if (value.shape() != state.variable.getTensorType().getShape())
      return false;
    Tensor global = value;
    global.type = state.variable.getTensorType();
    if (interpreter.isRounding())
      global.round();
    state.shards = state.sharding
                       ? shardTensor(global, state.sharding, interpreter.getMesh(), state.localType)
                       : Tensors{global};
    found = true;
  }
  return found;
}

/// Of the first stage that has it, which owns it.
std::optional<Tensor> TrainInterpreter::getVariable(StringRef name) {
  for (auto &[key, state] : states)
    if (key.second == name)
      return unshard(state.shards, state.sharding, state.variable.getTensorType());
  return std::nullopt;
}

std::map<std::string, Tensor> TrainInterpreter::getVariables(Role role) {
  std::map<std::string, Tensor> values;
  for (auto &[key, state] : states)
    if (state.variable.getRole() == role && !values.count(key.second))
      values[key.second] = *getVariable(key.second);
  return values;
}

void TrainInterpreter::sumOverStages(llvm::function_ref<bool(VariableOp)> isSummed) {
  std::map<std::string, SmallVector<State *>> copies;
  for (auto &[key, state] : states)
    if (isSummed(state.variable))
      copies[key.second].push_back(&state);
  for (auto &[name, all] : copies) {
    Tensors sum = all.front()->shards;
    for (State *other : ArrayRef(all).drop_front())
      for (auto [to, from] : llvm::zip(sum, other->shards))
        for (auto [total, value] : llvm::zip(to.values, from.values))
          total += value;
    for (Tensor &shard : sum)
      if (interpreter.isRounding())
        shard.round();
    for (State *state : all)
      state->shards = sum;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

FailureOr<TrainResult> TrainInterpreter::step(const TrainStep &step) {
  if (!functions.has(Phase::Forward))
    return module.emitError("cannot interpret: the module has no function of phase forward");
  outputs.clear(), residuals.clear(), boundaries.clear();
  accumulation.clear();
  auto microBatches = countMicroBatches(step);
  if (!parts.reducesInLast.empty() && !hasBackward && microBatches > 1)
    return module.emitError("cannot interpret: a step of ")
           << microBatches << " micro-batches, but only the last one has a backward function";
  FailureOr<std::vector<Action>> actions = listActions(microBatches);
  if (failed(actions))
    return failure();
  std::map<std::string, double> sums; // of losses, by name of the output
  ActionKind before = ActionKind::Forward;
  for (const Action &action : *actions) {
    // What stages add up with each other stands between what they do alone.
    if (action.kind == ActionKind::Norm && before != ActionKind::Norm)
      sumOverStages([](VariableOp variable) { return variable.getRole() == Role::Gradient; });
    if (action.kind == ActionKind::Update && before == ActionKind::Norm)
      sumOverStages([](VariableOp variable) {
        return variable.getRole() == Role::Step && variable.getSymName() == kSquaresVariable;
      });
    before = action.kind;
    if (failed(runAction(action, step)))
      return failure();
    // Only a graph gives the losses of each micro-batch; @reduce gives those of the step.
    if (!parts.updates)
      for (auto &[name, value] : std::exchange(outputs, {}))
        if (symbolizeOutputKind(name) == OutputKind::Loss)
          sums[name] += value.scalar();
  }
  if (!parts.updates) {
    for (auto &[name, sum] : sums)
      sum *= getLossScale(step);
    return makeResult(sums, std::nullopt);
  }
  for (OutputKind output : {OutputKind::Loss, OutputKind::GradNorm})
    if (!outputs.count(stringifyOutputKind(output).str()))
      return module.emitError("cannot interpret: no function has a result that is #par.place<output ")
             << stringifyOutputKind(output) << ">";
  for (auto &[name, value] : outputs)
    if (symbolizeOutputKind(name) == OutputKind::Loss)
      sums[name] = value.scalar();
  return makeResult(sums, outputs.at("grad_norm").scalar());
}

LogicalResult TrainInterpreter::runAction(const Action &action, const TrainStep &step) {
  if (failed(runFunction(find(action), step, std::max<int64_t>(action.microBatch, 0))))
    return failure();
  if (action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardWeight ||
      action.kind == ActionKind::BackwardWeightLast)
    residuals.erase({action.chunk, action.microBatch});
  return success();
}

FailureOr<Tensor> TrainInterpreter::logits(const TrainStep &step) {
  SmallVector<func::FuncOp> chunks = functions.getAll(Phase::Logits);
  if (chunks.empty())
    return module.emitError("cannot interpret: the module has no function of phase logits");
  outputs.clear(), boundaries.clear();
  for (func::FuncOp chunk : chunks)
    if (failed(runFunction(chunk, step, 0)))
      return failure();
  auto found = outputs.find(stringifyOutputKind(OutputKind::Logits).str());
  if (found == outputs.end())
    return chunks.back().emitError("cannot interpret @")
           << chunks.back().getName() << ": no result is #par.place<output logits>";
  return found->second;
}

LogicalResult TrainInterpreter::runFunction(func::FuncOp function, const TrainStep &step,
                                            int64_t microBatch) {
  FailureOr<EmptyAccumulators> found =
      accumulation.try_emplace(getStage(function), functions, symbols).first->second.begin(function);
  if (failed(found))
    return failure();
  empty = *found;
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
    return states[{getStage(place.function), symbol.getValue().str()}].shards;
  PlaceAttr source = place.getPlace();
  int64_t chunk = getChunk(place.function);
  if (!source)
    return place.error() << "has no par.place";
  if (std::optional<int64_t> number = source.getResidual()) {
    const std::map<int64_t, Tensors> &saved = residuals[{chunk, microBatch}];
    auto found = saved.find(*number);
    if (found == saved.end())
      return place.error() << "is residual " << *number << ", which no function before it has saved";
    return found->second;
  }
  if (std::optional<int64_t> number = source.getBoundary()) {
    auto found =
        boundaries.find({chunk, isBackward(getPhase(place.function).getPhase()), microBatch, *number});
    if (found == boundaries.end())
      return place.error() << "is boundary " << *number << ", which no other chunk has handed over";
    Tensors values = std::move(found->second);
    boundaries.erase(found);
    return values;
  }
  auto error = [&] { return place.error(); };
  RankedTensorType type = place.getGlobalType();
  FailureOr<Tensor> global =
      source.getOpenInput() ? makeOpenInput(source.getRuntimeName(), type, step, microBatch, error)
                            : makeInput({*source.getInput(), source.getRuntimeName(), source.getWeight()},
                                        type, step, microBatch, empty, error);
  if (failed(global))
    return failure();
  return shard(*global, place.getSharding(), place.type, getInputFill(source.getInputName()));
}

LogicalResult TrainInterpreter::take(const Place &place, Tensors values, int64_t microBatch) {
  PlaceAttr target = place.getPlace();
  int64_t chunk = getChunk(place.function);
  if (target && target.getOutput())
    outputs.insert_or_assign(target.getRuntimeName(),
                             unshard(values, place.getSharding(), place.getGlobalType()));
  if (target && target.getResidual() &&
      !residuals[{chunk, microBatch}].emplace(*target.getResidual(), values).second)
    return place.error() << "saves residual " << *target.getResidual() << " a second time";
  if (target && target.getBoundary()) {
    bool back = isBackward(getPhase(place.function).getPhase());
    boundaries[{chunk + (back ? -1 : 1), back, microBatch, *target.getBoundary()}] = values;
  }
  if (FlatSymbolRefAttr symbol = place.getVariable())
    states[{getStage(place.function), symbol.getValue().str()}].shards = std::move(values);
  return success();
}
