//===- StepInterpreter.cpp - what evaluates training steps ----------------------------------------------===//
#include "par/Interpreter/StepInterpreter.h"
#include "par/Interpreter/ShardTensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

int64_t par::countMicroBatches(const TrainStep &step) {
  size_t tokens = std::max(step.tokens.size(), step.targets.size());
  return std::max(static_cast<int64_t>(tokens), step.microBatches);
}

double par::getLossScale(const TrainStep &step) {
  double count = 0;
  if (step.targets.empty())
    return 1.0 / static_cast<double>(step.rows);
  for (const Tensor &targets : step.targets)
    count +=
        static_cast<double>(llvm::count_if(targets.values, [](double target) { return target != -100.0; }));
  return 1.0 / count;
}

/// The step says the weight, else the graph, else it is 1.
static double getLossWeight(const InputRequest &request, const TrainStep &step) {
  auto given = step.lossWeights.find(StringRef(request.name).split('.').second.str());
  if (given != step.lossWeights.end())
    return given->second;
  return request.weight ? request.weight.getValueAsDouble() : 1.0;
}

static double getScalar(InputKind input, const TrainStep &step, int64_t microBatch, EmptyAccumulators empty) {
  auto number = static_cast<double>(step.number);
  switch (input) {
  case InputKind::MicroBatch:
    return static_cast<double>(microBatch);
  case InputKind::Step:
    return number;
  case InputKind::Beta:
  case InputKind::SharedBeta:
    return empty.getBeta(input);
  case InputKind::LossScale:
    return getLossScale(step);
  case InputKind::LearningRate:
    return step.lr;
  case InputKind::Beta1:
    return step.beta1;
  case InputKind::Beta2:
    return step.beta2;
  case InputKind::Epsilon:
    return step.eps;
  case InputKind::WeightDecay:
    return step.weightDecay;
  case InputKind::Clip:
    return step.clip;
  case InputKind::Bias1:
    return 1.0 - std::pow(step.beta1, number);
  case InputKind::Bias2:
    return 1.0 - std::pow(step.beta2, number);
  case InputKind::Tokens:
  case InputKind::Targets:
  case InputKind::Positions:
  case InputKind::Documents:
  case InputKind::DropoutKey:
  case InputKind::LossWeight:
    break;
  }
  llvm_unreachable("no scalar");
}

/// The values of an input that has a number for each token; null for others.
static const std::vector<Tensor> *findRows(InputKind input, const TrainStep &step) {
  switch (input) {
  case InputKind::Tokens:
    return &step.tokens;
  case InputKind::Targets:
    return &step.targets;
  case InputKind::Positions:
    return &step.positions;
  case InputKind::Documents:
    return &step.documents;
  default:
    return nullptr;
  }
}

FailureOr<Tensor> par::makeInput(const InputRequest &request, RankedTensorType type, const TrainStep &step,
                                 int64_t microBatch, EmptyAccumulators empty,
                                 llvm::function_ref<InFlightDiagnostic()> error) {
  InputKind input = request.input;
  Tensor value(type);
  if (const std::vector<Tensor> *rows = findRows(input, step)) {
    const std::vector<Tensor> &given = *rows;
    StringRef name = stringifyInputKind(input);
    if (microBatch >= static_cast<int64_t>(given.size()))
      return error() << "needs " << name << " of micro-batch " << microBatch << ", which were not given";
    if (given[microBatch].shape() != value.shape())
      return error() << "takes " << name << " of type " << value.type << ", given are "
                     << given[microBatch].type;
    value.values = given[microBatch].values;
    return value;
  }
  int64_t words = input == InputKind::DropoutKey ? 2 : 1;
  if (value.size() != words)
    return error() << "takes " << stringifyInputKind(input) << ", of " << words << " elements, as "
                   << value.type;
  if (input == InputKind::DropoutKey) {
    for (auto [word, out] : llvm::zip(step.dropoutKey, value.values))
      out = static_cast<double>(word);
  } else if (input == InputKind::LossWeight) {
    value.values[0] = getLossWeight(request, step);
  } else {
    value.values[0] = getScalar(input, step, microBatch, empty);
  }
  return value;
}

TrainResult StepInterpreter::makeResult(const std::map<std::string, double> &losses,
                                        std::optional<double> gradNorm) {
  TrainResult result{0.0, {}, gradNorm};
  for (auto &[name, value] : losses)
    if (StringRef loss = StringRef(name).split('.').second; loss.empty())
      result.loss = value;
    else
      result.losses[loss.str()] = value;
  return result;
}

FailureOr<Tensor> par::makeOpenInput(StringRef name, RankedTensorType type, const TrainStep &step,
                                     int64_t microBatch, llvm::function_ref<InFlightDiagnostic()> error) {
  auto found = step.openInputs.find(name.str());
  if (found == step.openInputs.end())
    return error() << "needs the input \"" << name << "\" of type " << type << ", which was not given";
  const std::vector<Tensor> &values = found->second;
  if (values.size() != 1 && microBatch >= static_cast<int64_t>(values.size()))
    return error() << "needs the input \"" << name << "\" of micro-batch " << microBatch
                   << ", which was not given";
  const Tensor &value = values[values.size() == 1 ? 0 : microBatch];
  if (value.type != type)
    return error() << "takes the input \"" << name << "\" of type " << type << ", given is " << value.type;
  return value;
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

Tensors StepInterpreter::shard(const Tensor &global, ShardingAttr sharding, RankedTensorType localType,
                               double fill) const {
  if (!sharding)
    return {global};
  Tensor shifted = global;
  for (double &value : shifted.values)
    value -= fill;
  Tensors shards = shardTensor(shifted, sharding, mesh, localType);
  for (Tensor &shard : shards)
    for (double &value : shard.values)
      value += fill;
  return shards;
}

Tensor StepInterpreter::unshard(const Tensors &shards, ShardingAttr sharding, RankedTensorType type) {
  if (!sharding)
    return shards.front();
  UnshardedTensor whole = unshardTensor(shards, sharding, mesh, type);
  replicaDifference = std::max(replicaDifference, whole.replicaDifference);
  padding = std::max(padding, whole.padding);
  return std::move(whole.value);
}
