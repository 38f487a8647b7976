//===- LayerFunctions.h - which layers are one function ---------------------------------------*- C++ -*-===//
#ifndef PAR_IMPORT_LAYERFUNCTIONS_H
#define PAR_IMPORT_LAYERFUNCTIONS_H

#include "par/Import/LayerBuilder.h"

namespace mlir::par {

/// A kind of layer that differs from all others of a model.
struct LayerFunction {
  /// Of a kind's first layer its class (`block`), of others also what differs from that one
  /// (`block.window8`).
  std::string name;
  const LayerPart *kind;
  KindDescription description;
  LayerDeclaration training, evaluation;

  const LayerDeclaration &getDeclaration(bool isTraining) const { return isTraining ? training : evaluation; }
  /// The name of what is called: the evaluation's has another name where training reads more.
  std::string getName(bool isTraining) const;
};

/// The functions of a model in the order of their first layers, and which one each layer calls.
struct LayerFunctions {
  std::vector<LayerFunction> functions;
  std::vector<size_t> ofLayer;

  const LayerFunction &get(size_t layer) const { return functions[ofLayer[layer]]; }
};

/// It points into `config`.
LayerFunctions findLayerFunctions(const ModelConfig &config);

} // namespace mlir::par

#endif // PAR_IMPORT_LAYERFUNCTIONS_H
