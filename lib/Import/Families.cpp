//===- Families.cpp - the table of model families -------------------------------------------------------===//

#include "ConfigFile.h"
#include "par/Import/Family.h"
#include "par/Import/LayerFunctions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace llvm;

namespace mlir::par {

static const Family *const builtIn[] = {&gpt2Family, &llamaFamily, &mistralFamily, &olmoFamily, &qwen2Family};

static std::vector<const Family *> &table() {
  static std::vector<const Family *> known(std::begin(builtIn), std::end(builtIn));
  return known;
}

const std::vector<const Family *> &families() { return table(); }

bool registerFamily(const Family &family) {
  auto at = llvm::lower_bound(table(), family,
                              [](const Family *a, const Family &b) { return a->modelType < b.modelType; });
  if (at != table().end() && (*at)->modelType == family.modelType)
    return false;
  table().insert(at, &family);
  return true;
}

static const Family *findFamily(StringRef modelType) {
  for (const Family *family : families())
    if (family->modelType == modelType)
      return family;
  return nullptr;
}

/// The family that the config names.
static Expected<const Family *> chooseFamily(const ConfigFile &file) {
  auto known = [] {
    return join(map_range(families(), [](const Family *f) { return f->modelType.str(); }), ", ");
  };
  const json::Value *value = file.getObject().get("model_type");
  if (!value)
    return file.error("", "the key 'model_type' is missing; supported are " + known());
  std::optional<StringRef> name = value->getAsString();
  if (!name)
    return file.error("model_type",
                      "'model_type' is " + briefly(*value) + ", expected a string; supported are " + known());
  if (const Family *family = findFamily(*name))
    return family;
  return file.error("model_type", "'model_type' is \"" + *name +
                                      "\", which is not supported; supported "
                                      "are " +
                                      known());
}

/// Whether every tensor's bytes and the model's can be counted in 63 bits.
static bool countable(const ModelConfig &config) {
  // One block is enough: there is room for 2^20 of them, of eight bytes an element.
  std::map<StringRef, double> largest;
  for (const LayerFunction &function : findLayerFunctions(config).functions) {
    double elements = 0;
    for (const Parameter &parameter : function.training.parameters) {
      double size = !parameter.shared;
      for (const Dimension &dim : parameter.dims)
        size *= static_cast<double>(dim.size);
      elements += size;
    }
    double &most = largest[function.kind->getName()];
    most = std::max(most, elements);
  }
  double total = 0;
  for (double elements : llvm::make_second_range(largest))
    total += elements;
  return total < 0x1p39;
}

Expected<ModelConfig> loadModelConfig(StringRef model, ArrayRef<std::string> overrides) {
  Expected<ConfigFile> file = ConfigFile::load(model, overrides);
  if (!file)
    return file.takeError();
  Expected<const Family *> family = chooseFamily(*file);
  if (!family)
    return family.takeError();
  ModelConfig config;
  config.modelType = (*family)->modelType.str();
  llvm::raw_string_ostream(config.json)
      << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(file->getObject())));
  ConfigReader reader(*file);
  readCommonKeys(reader);
  (*family)->read(reader, config);
  if (Error error = reader.finish((*family)->modelType))
    return std::move(error);
  config.file = file->getPath();
  config.ignoredKeys = reader.getIgnored();
  if (!countable(config))
    return file->error("", "the sizes make a layer of more than 2^39 elements, "
                           "which is more than can be addressed");
  return config;
}

} // namespace mlir::par
