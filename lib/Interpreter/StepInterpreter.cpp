//===- StepInterpreter.cpp - what evaluates training steps ----------------------------------------------===//
#include "par/Interpreter/StepInterpreter.h"
#include "par/Interpreter/ShardTensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

double par::countTargets(const TrainStep &step) {
  double count = 0;
  for (const Tensor &targets : step.targets)
    count +=
        static_cast<double>(llvm::count_if(targets.values, [](double target) { return target != -100.0; }));
  return count;
}

static std::optional<double> getScalar(StringRef name, const TrainStep &step, int64_t microBatch) {
  double number = static_cast<double>(step.number);
  const std::pair<StringRef, double> scalars[] = {
      {"micro_batch", static_cast<double>(microBatch)},
      {"step", number},
      {"beta", microBatch == 0 ? 0.0 : 1.0},
      {"loss_scale", 1.0 / countTargets(step)},
      {"lr", step.lr},
      {"beta1", step.beta1},
      {"beta2", step.beta2},
      {"eps", step.eps},
      {"weight_decay", step.weightDecay},
      {"clip", step.clip},
      {"bias1", 1.0 - std::pow(step.beta1, number)},
      {"bias2", 1.0 - std::pow(step.beta2, number)},
  };
  for (auto [known, value] : scalars)
    if (known == name)
      return value;
  return std::nullopt;
}

FailureOr<Tensor> par::makeInput(StringRef name, RankedTensorType type, const TrainStep &step,
                                 int64_t microBatch, llvm::function_ref<InFlightDiagnostic()> error) {
  Tensor value(type);
  if (name == "tokens" || name == "targets") {
    const std::vector<Tensor> &given = name == "tokens" ? step.tokens : step.targets;
    if (microBatch >= static_cast<int64_t>(given.size()))
      return error() << "needs " << name << " of micro-batch " << microBatch << ", which were not given";
    if (given[microBatch].shape() != value.shape())
      return error() << "takes " << name << " of type " << value.type << ", given are "
                     << given[microBatch].type;
    value.values = given[microBatch].values;
    return value;
  }
  if (name == "dropout_key" && value.size() == 2) {
    for (auto [word, out] : llvm::zip(step.dropoutKey, value.values))
      out = static_cast<double>(word);
    return value;
  }
  std::optional<double> scalar = getScalar(name, step, microBatch);
  if (!scalar)
    return error() << "has par.input = \"" << name << "\", which docs/IR.md does not know";
  if (value.size() != 1)
    return error() << "takes " << name << ", a scalar, as " << value.type;
  value.values[0] = *scalar;
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
