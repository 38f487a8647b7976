//===- Parameters.cpp - the tensors of a model ----------------------------------------------------------===//

#include "par/Import/Parameters.h"

#include "par/Import/Family.h"

#include <numeric>

using namespace llvm;

namespace mlir::par {

int64_t Parameter::elements() const {
  int64_t count = 1;
  for (const Dimension &dim : dims)
    count *= dim.size;
  return count;
}

std::vector<const Parameter *> ModelParameters::all() const & {
  std::vector<const Parameter *> result;
  auto add = [&](const std::vector<Parameter> &layer) {
    for (const Parameter &parameter : layer)
      result.push_back(&parameter);
  };
  add(embed);
  for (const std::vector<Parameter> &block : blocks)
    add(block);
  add(head);
  return result;
}

int64_t ModelParameters::elements() const {
  int64_t count = 0;
  for (const Parameter *parameter : all())
    count += parameter->elements();
  return count;
}

Parameter makeWeight(StringRef local, std::vector<Dimension> dims, std::vector<int64_t> fileShape,
                     double deviation) {
  Parameter parameter;
  parameter.local = local.str();
  parameter.permutation.resize(dims.size());
  std::iota(parameter.permutation.begin(), parameter.permutation.end(), 0);
  parameter.dims = std::move(dims);
  parameter.fileShape = std::move(fileShape);
  parameter.standardDeviation = deviation;
  return parameter;
}

Parameter makeVector(StringRef local, std::vector<Dimension> dims, InitKind init) {
  Parameter parameter = makeWeight(local, std::move(dims), {}, 0.0);
  parameter.fileShape = {parameter.elements()};
  parameter.init = init;
  return parameter;
}

void setNames(Parameter &parameter, const Twine &prefix, StringRef root) {
  parameter.symbol = (prefix + parameter.local).str();
  parameter.fileName = (root + parameter.symbol).str();
}

void setNames(std::vector<Parameter> &layer, const Twine &prefix, StringRef root) {
  std::string text = prefix.str();
  for (Parameter &parameter : layer)
    setNames(parameter, text, root);
}

ModelParameters modelParameters(const ModelConfig &config) {
  ModelParameters model;
  model.blocks.resize(config.layers);
  findFamily(config.modelType)->addParameters(config, model);
  return model;
}

} // namespace mlir::par
