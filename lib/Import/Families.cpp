//===- Families.cpp - the table of model families -------------------------------------------------------===//

#include "par/Import/Family.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mlir::par {

ArrayRef<const Family *> families() {
  static const Family *const table[] = {&gpt2Family, &llamaFamily, &mistralFamily, &olmoFamily, &qwen2Family};
  return table;
}

const Family *findFamily(StringRef modelType) {
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
  // One layer is enough: all layers have the same shapes.
  ModelConfig one = config;
  one.layers = 1;
  one.windows.resize(1);
  // Room for 2^20 layers of eight bytes an element.
  double most = 0x1p39;
  double total = 0;
  ModelParameters parameters = modelParameters(one);
  for (const Parameter *parameter : parameters.all()) {
    double elements = 1;
    for (const Dimension &dim : parameter->dims)
      elements *= static_cast<double>(dim.size);
    total += elements;
  }
  return total < most;
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
