//===- LayerFunctions.cpp - which layers are one function -----------------------------------------------===//
#include "par/Import/LayerFunctions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::par;

std::string LayerFunction::getName(bool isTraining) const {
  if (isTraining)
    return name;
  return name + (training.targets ? ".logits" : training.dropout ? ".eval" : "");
}

/// What `kind` says otherwise than the first one of its class.
static std::string nameDifference(const KindDescription &first, const KindDescription &kind) {
  std::string name;
  for (const KindDescription::Entry &entry : kind.getEntries()) {
    const KindDescription::Entry *other = first.find(entry.key);
    // A key that the first one lacks may follow from a part of another class, which is named already.
    if (other ? !(*other == entry) : !entry.word.empty())
      name += "." + entry.getWord();
  }
  return name;
}

/// The number of the function that has `kind`, after adding it if none has.
static size_t findOrAdd(std::vector<LayerFunction> &functions, const ModelConfig &config,
                        const LayerPart &kind) {
  KindDescription description;
  kind.describe(description);
  std::string name = kind.getName().str();
  const LayerFunction *first = nullptr;
  for (auto [index, function] : llvm::enumerate(functions)) {
    if (function.kind->getName() != kind.getName())
      continue;
    if (function.description == description)
      return index;
    if (!first)
      first = &function;
  }
  if (first)
    name += nameDifference(first->description, description);
  // Kinds may differ in what the first one says nothing about.
  auto isTaken = [&](const LayerFunction &function) { return function.name == name; };
  if (llvm::any_of(functions, isTaken))
    name += ".kind" + std::to_string(functions.size());
  functions.push_back({name, &kind, std::move(description), declareLayer(config, kind, /*training=*/true),
                       declareLayer(config, kind, /*training=*/false)});
  return functions.size() - 1;
}

LayerFunctions par::findLayerFunctions(const ModelConfig &config) {
  LayerFunctions result;
  llvm::DenseMap<const LayerPart *, size_t> known;
  for (const ModelLayer &layer : config.layers) {
    auto [at, isNew] = known.try_emplace(layer.kind.get());
    if (isNew)
      at->second = findOrAdd(result.functions, config, *layer.kind);
    result.ofLayer.push_back(at->second);
  }
  return result;
}
