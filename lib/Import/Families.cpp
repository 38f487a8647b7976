//===- Families.cpp - the table of model families -------------------------------------------------------===//

#include "ConfigFile.h"
#include "par/Import/Family.h"
#include "par/Import/LayerFunctions.h"
#include "par/Support/JsonText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace mlir::par {

static const Family *const builtIn[] = {&gemma2Family,  &gemma3TextFamily, &gpt2Family,  &llamaFamily,
                                        &mistralFamily, &olmoFamily,       &olmo2Family, &olmo3Family,
                                        &phi3Family,    &qwen2Family,      &qwen3Family, &smolLM3Family};

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

namespace {
/// A model type whose config holds that of a model of text under a key, beside parts that par leaves out.
struct WrappedText {
  StringLiteral modelType, key, textType;
};
} // namespace

static constexpr WrappedText wrappedTexts[] = {{"gemma3", "text_config", "gemma3_text"}};

/// The family that the config names.
static Expected<const Family *> chooseFamily(const ConfigFile &file) {
  auto known = [] {
    std::set<std::string> names;
    for (const Family *each : families())
      names.insert(each->modelType.str());
    for (const WrappedText &wrapped : wrappedTexts)
      names.insert(wrapped.modelType.str());
    return join(names, ", ");
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

/// Puts the text part in the place of a config that holds one, and says so.
static Error unwrapText(ConfigFile &file, ModelConfig &config) {
  std::optional<StringRef> type = file.getObject().getString("model_type");
  for (const WrappedText &wrapped : wrappedTexts) {
    if (!type || *type != wrapped.modelType)
      continue;
    if (!file.unwrap(wrapped.key, {"bos_token_id", "eos_token_id"}))
      return file.error("model_type", "'model_type' is \"" + wrapped.modelType + "\", but the dictionary '" +
                                          wrapped.key + "' with its text part is missing");
    if (!file.getObject().get("model_type"))
      file.set("model_type", wrapped.textType.str());
    config.notes.push_back(("the text part of a " + wrapped.modelType + " model is imported, as " +
                            wrapped.textType + "; its picture part is left out")
                               .str());
    return Error::success();
  }
  return Error::success();
}

/// Quantised weights are refused where they are loaded: a copy of the model in bf16 has the same config.
static void dropQuantization(ConfigFile &file, ModelConfig &config) {
  const json::Object *quantization = file.getObject().getObject("quantization_config");
  if (!quantization)
    return;
  std::string method = quantization->getString("quant_method").value_or("unknown").str();
  config.notes.push_back("'quantization_config' (" + method +
                         ") is ignored: quantised weights are not loaded; give a copy of them in bf16");
  file.remove("quantization_config");
}

/// Drops the Python code that configs name which were published before Transformers had the family.
static void dropForeignCode(ConfigFile &file, ModelConfig &config) {
  const json::Object *code = file.getObject().getObject("auto_map");
  if (!code || code->empty())
    return;
  config.notes.push_back("'auto_map' is ignored: the model is that of Transformers' own class");
  file.remove("auto_map");
}

/// The config as others read it. That of a base model may name the class without a head.
static std::string printConfig(const ConfigFile &file, const Family &family) {
  json::Object config = file.getObject();
  if (!family.architecture.empty())
    config["architectures"] = json::Array{family.architecture};
  return printJson(std::move(config)) + "\n";
}

Expected<ModelConfig> loadModelConfig(StringRef model, ArrayRef<std::string> overrides) {
  Expected<ConfigFile> file = ConfigFile::load(model);
  if (!file)
    return file.takeError();
  ModelConfig config;
  if (Error error = unwrapText(*file, config))
    return std::move(error);
  if (Error error = file->applyOverrides(overrides))
    return std::move(error);
  dropQuantization(*file, config);
  Expected<const Family *> family = chooseFamily(*file);
  if (!family)
    return family.takeError();
  if ((*family)->isPublishedWithCode)
    dropForeignCode(*file, config);
  config.modelType = (*family)->modelType.str();
  config.json = printConfig(*file, **family);
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
