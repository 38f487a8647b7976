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
  std::optional<StringRef> getName(StringRef attribute) const {
    auto name = get<StringAttr>(attribute);
    return name ? std::optional<StringRef>(name.getValue()) : std::nullopt;
  }
  FlatSymbolRefAttr getVariable() const { return get<FlatSymbolRefAttr>(ParDialect::kBindAttr); }
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

static StringRef getPhase(func::FuncOp function) {
  auto phase = function->getAttrOfType<StringAttr>(ParDialect::kPhaseAttr);
  return phase ? phase.getValue() : StringRef();
}

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
  std::map<StringRef, func::FuncOp> phases;
  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef phase = getPhase(function);
    if (phase.empty())
      continue;
    if (!phases.emplace(phase, function).second)
      return function.emitError("cannot interpret @") << function.getName() << ": a second function of phase "
                                                      << phase << "; pipeline stages are not built";
    if (failed(bindVariables(function)))
      return failure();
  }
  SmallVector<StringRef> microBatch{"forward"}, step{"reduce", "norm", "update"};
  if (phases.count("backward") || phases.count("backward_input") || phases.count("backward_last"))
    llvm::append_range(microBatch, split ? SmallVector<StringRef>{"backward_input", "backward_weight"}
                                         : SmallVector<StringRef>{"backward"});
  else
    step.clear();
  auto collect = [&](ArrayRef<StringRef> names, SmallVectorImpl<func::FuncOp> &functions) -> LogicalResult {
    for (StringRef name : names) {
      auto found = phases.find(name);
      if (found == phases.end())
        return module.emitError("cannot interpret: the module has no function with par.phase = \"")
               << name << "\"";
      functions.push_back(found->second);
    }
    return success();
  };
  if (auto found = phases.find("logits"); found != phases.end())
    logitsFunction = found->second;
  // A module may exist for its logits alone.
  if (logitsFunction && !phases.count("forward"))
    return success();
  SmallVector<StringRef> before, last = microBatch;
  if (phases.count("gather"))
    before.push_back("gather");
  // par-fuse-reduction: the last micro-batch has a backward function of its own, others may not exist.
  if (phases.count("backward_last")) {
    last.back() = "backward_last";
    llvm::erase(step, "reduce");
    if (!phases.count("backward"))
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
  if (!variable)
    return place.error() << "binds " << symbol << ", which names no par.variable";
  if (place.getGlobalType() != variable.getTensorType())
    return place.error() << "binds " << symbol << " as " << place.getGlobalType() << ", the variable is "
                         << variable.getTensorType();
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
    return module.emitError("cannot interpret: the module has no function with par.phase = \"forward\"");
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
    if (auto loss = outputs.find("loss"); loss != outputs.end())
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
  for (StringRef name : {"loss", "grad_norm"})
    if (!outputs.count(name.str()))
      return module.emitError("cannot interpret: no function has a result with par.output = \"")
             << name << "\"";
  result.loss = outputs["loss"].scalar();
  result.gradNorm = outputs["grad_norm"].scalar();
  return result;
}

FailureOr<Tensor> TrainInterpreter::logits(const Tensor &tokens) {
  if (!logitsFunction)
    return module.emitError("cannot interpret: the module has no function with par.phase = \"logits\"");
  TrainStep step;
  step.tokens = {tokens};
  outputs.clear();
  if (failed(runFunction(logitsFunction, step, 0)))
    return failure();
  auto found = outputs.find("logits");
  if (found == outputs.end())
    return logitsFunction.emitError("cannot interpret @")
           << logitsFunction.getName() << ": no result has par.output = \"logits\"";
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
  if (auto number = place.get<IntegerAttr>(ParDialect::kResidualAttr)) {
    auto found = residuals.find(number.getInt());
    if (found == residuals.end())
      return place.error() << "is residual " << number.getInt() << ", which no function before it has saved";
    return found->second;
  }
  std::optional<StringRef> name = place.getName(ParDialect::kInputAttr);
  if (!name)
    return place.error() << "has none of par.bind, par.residual and par.input";
  FailureOr<Tensor> global =
      makeInput(*name, place.getGlobalType(), step, microBatch, [&] { return place.error(); });
  if (failed(global))
    return failure();
  return shard(*global, place.getSharding(), place.type, getInputFill(*name));
}

LogicalResult TrainInterpreter::take(const Place &place, Tensors values) {
  if (std::optional<StringRef> name = place.getName(ParDialect::kOutputAttr))
    outputs[name->str()] = unshard(values, place.getSharding(), place.getGlobalType());
  if (auto number = place.get<IntegerAttr>(ParDialect::kResidualAttr)) {
    if (!residuals.emplace(number.getInt(), values).second)
      return place.error() << "saves residual " << number.getInt() << " a second time";
  }
  if (FlatSymbolRefAttr symbol = place.getVariable())
    states[symbol.getValue().str()].shards = std::move(values);
  return success();
}
