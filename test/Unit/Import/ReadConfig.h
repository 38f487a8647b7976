//===- ReadConfig.h - configs of tests, and what is said of their layers -----------------------*- C++
//-*-===//
#ifndef PAR_TEST_UNIT_IMPORT_READCONFIG_H
#define PAR_TEST_UNIT_IMPORT_READCONFIG_H

#include "TemporaryConfig.h"
#include "par/Import/Attention.h"
#include "par/Import/ModelConfig.h"

namespace mlir::par {

inline ModelConfig read(llvm::StringRef text, std::vector<std::string> overrides = {}) {
  auto config = loadModelConfig(TemporaryConfig(text).str(), overrides);
  if (config)
    return *config;
  ADD_FAILURE() << llvm::toString(config.takeError());
  return {};
}

/// The value of `key` in the first layer that has it; null if none does.
inline const KindDescription::Datum *find(const std::vector<ModelLayer> &layers, llvm::StringRef key) {
  static KindDescription description;
  for (const ModelLayer &layer : layers) {
    description = {};
    layer.kind->describe(description);
    if (const KindDescription::Entry *entry = description.find(key))
      return &entry->value;
  }
  return nullptr;
}

template <typename T>
T get(const ModelConfig &config, llvm::StringRef key) {
  const KindDescription::Datum *value = find(config.layers, key);
  if (value && std::holds_alternative<T>(*value))
    return std::get<T>(*value);
  ADD_FAILURE() << "no layer has such a " << key.str();
  return {};
}

inline int64_t size(const ModelConfig &config, llvm::StringRef key) { return get<int64_t>(config, key); }
inline bool flag(const ModelConfig &config, llvm::StringRef key) { return get<bool>(config, key); }
inline double real(const ModelConfig &config, llvm::StringRef key) { return get<double>(config, key); }
inline std::string label(const ModelConfig &config, llvm::StringRef key) {
  return get<std::string>(config, key);
}

inline std::optional<int64_t> paddingToken(const ModelConfig &config) {
  const KindDescription::Datum *value = find(config.layers, "pad_token_id");
  return value ? std::optional(std::get<int64_t>(*value)) : std::nullopt;
}

/// The window of each block.
inline std::vector<int64_t> windows(const ModelConfig &config) {
  std::vector<int64_t> result;
  for (const ModelLayer &layer : config.layers)
    if (layer.number)
      result.push_back(std::get<int64_t>(*find({layer}, "sliding_window")));
  return result;
}

/// The error's text without its file, as "line:column: message".
inline std::string failure(llvm::StringRef text, std::vector<std::string> overrides = {}) {
  TemporaryConfig file(text);
  auto config = loadModelConfig(file.str(), overrides);
  if (config)
    return "accepted";
  std::string message = llvm::toString(config.takeError());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  llvm::StringRef rest(message);
  rest.consume_front(file.str() + ":");
  return rest.ltrim().str();
}

} // namespace mlir::par

#endif // PAR_TEST_UNIT_IMPORT_READCONFIG_H
