//===- Parameters.cpp - the tensors of a model ----------------------------------------------------------===//

#include "par/Import/Parameters.h"

#include "par/Import/LayerFunctions.h"

using namespace llvm;

namespace mlir::par {

int64_t countElements(ArrayRef<Dimension> dims) {
  int64_t count = 1;
  for (const Dimension &dim : dims)
    count *= dim.size;
  return count;
}

std::vector<const Parameter *> ModelParameters::all() const & {
  std::vector<const Parameter *> result;
  for (const std::vector<Parameter> &layer : layers)
    for (const Parameter &parameter : layer)
      if (!parameter.shared)
        result.push_back(&parameter);
  return result;
}

int64_t ModelParameters::elements() const {
  int64_t count = 0;
  for (const Parameter *parameter : all())
    count += parameter->elements();
  return count;
}

/// Sets symbol and name in files.
static void name(Parameter &parameter, const std::string &path, const std::string &root) {
  if (!parameter.shared)
    parameter.symbol = path + parameter.local;
  std::string inFile = parameter.symbol;
  if (parameter.joint) // the module is another one
    inFile = path + parameter.joint->module + "." + StringRef(parameter.local).rsplit('.').second.str();
  // Transformers keeps the head's matrix beside the model, not in it.
  parameter.fileName = inFile == "lm_head.weight" ? inFile : root + inFile;
}

ModelParameters modelParameters(const ModelConfig &config) {
  ModelParameters model;
  LayerFunctions functions = findLayerFunctions(config);
  for (auto [index, layer] : enumerate(config.layers)) {
    model.layers.push_back(functions.get(index).training.parameters);
    for (Parameter &parameter : model.layers.back())
      name(parameter, layer.path, config.root);
  }
  return model;
}

} // namespace mlir::par
