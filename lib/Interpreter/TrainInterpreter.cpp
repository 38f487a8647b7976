//===- TrainInterpreter.cpp - evaluates training steps of a module --------------------------------------===//
#include "par/Interpreter/TrainInterpreter.h"
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

std::unique_ptr<TrainInterpreter> TrainInterpreter::create(ModuleOp module, bool split) {
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
  return succeeded(train->findFunctions(split)) ? std::move(train) : nullptr;
}

LogicalResult TrainInterpreter::findFunctions(bool split) {
  ChunkFunctions functions(module);
  for (func::FuncOp function : functions.getAll()) {
    if (getChunk(function) != functions.getChunks().front())
      return function.emitError("cannot interpret @")
             << function.getName() << ": the module has " << functions.getChunks().size()
             << " chunks, expected 1; pipelines are not built";
    if (failed(refuseBoundaries(function, "cannot interpret")) || failed(bindVariables(function)))
      return failure();
  }
  auto find = [&](Phase phase) {
    return functions.has(phase) ? functions.getAll(phase).front() : func::FuncOp();
  };
  auto collect = [&](ArrayRef<Phase> phases, SmallVectorImpl<func::FuncOp> &found) -> LogicalResult {
    for (Phase phase : phases) {
      found.push_back(find(phase));
      if (!found.back())
        return module.emitError("cannot interpret: the module has no function of phase ")
               << stringifyPhase(phase);
    }
    return success();
  };
  SmallVector<Phase> microBatch{Phase::Forward}, step{Phase::Reduce, Phase::Norm, Phase::Update};
  if (functions.isDifferentiated())
    llvm::append_range(microBatch, split ? SmallVector<Phase>{Phase::BackwardInput, Phase::BackwardWeight}
                                         : SmallVector<Phase>{Phase::Backward});
  else
    step.clear();
  logitsFunction = find(Phase::Logits);
  // A module may exist for its logits alone.
  if (logitsFunction && !functions.has(Phase::Forward))
    return success();
  SmallVector<Phase> before, last = microBatch;
  if (functions.has(Phase::Gather))
    before.push_back(Phase::Gather);
  // par-fuse-reduction: the last micro-batch has a backward function of its own, others may not exist.
  if (functions.has(Phase::BackwardLast)) {
    last.back() = Phase::BackwardLast;
    llvm::erase(step, Phase::Reduce);
    if (!functions.has(Phase::Backward))
      microBatch.clear();
  }
  return failure(failed(collect(before, beforeStep)) || failed(collect(microBatch, perMicroBatch)) ||
                 failed(collect(last, lastMicroBatch)) || failed(collect(step, perStep)));
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
  if (lastMicroBatch.empty())
    return module.emitError("cannot interpret: the module has no function of phase forward");
  outputs.clear();
  double lossSum = 0.0;
  for (func::FuncOp function : beforeStep)
    if (failed(runFunction(function, step, 0)))
      return failure();
  for (int64_t microBatch = 0; microBatch < static_cast<int64_t>(step.tokens.size()); ++microBatch) {
    residuals.clear();
    bool isLast = microBatch + 1 == static_cast<int64_t>(step.tokens.size());
    if (!isLast && perMicroBatch.empty())
      return module.emitError("cannot interpret: a step of ")
             << step.tokens.size() << " micro-batches, but only the last one has a backward function";
    for (func::FuncOp function : isLast ? lastMicroBatch : perMicroBatch)
      if (failed(runFunction(function, step, microBatch)))
        return failure();
    // Only a graph gives the loss of each micro-batch; @reduce gives that of the step.
    if (auto loss = outputs.find(OutputKind::Loss); loss != outputs.end())
      lossSum += loss->second.scalar();
  }
  for (func::FuncOp function : perStep)
    if (failed(runFunction(function, step, 0)))
      return failure();
  TrainResult result;
  if (perStep.empty()) {
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
    if (failed(take(Place(function, true, number), std::move(values))))
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
    auto found = residuals.find(*number);
    if (found == residuals.end())
      return place.error() << "is residual " << *number << ", which no function before it has saved";
    return found->second;
  }
  InputKind input = *source.getInput();
  FailureOr<Tensor> global =
      makeInput(input, place.getGlobalType(), step, microBatch, [&] { return place.error(); });
  if (failed(global))
    return failure();
  return shard(*global, place.getSharding(), place.type, getInputFill(input));
}

LogicalResult TrainInterpreter::take(const Place &place, Tensors values) {
  PlaceAttr target = place.getPlace();
  if (target && target.getOutput())
    outputs.insert_or_assign(*target.getOutput(),
                             unshard(values, place.getSharding(), place.getGlobalType()));
  if (target && target.getResidual() && !residuals.emplace(*target.getResidual(), values).second)
    return place.error() << "saves residual " << *target.getResidual() << " a second time";
  if (FlatSymbolRefAttr symbol = place.getVariable())
    states[symbol.getValue().str()].shards = std::move(values);
  return success();
}
