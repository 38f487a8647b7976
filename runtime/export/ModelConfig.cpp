#include "export/ModelConfig.h"

#include "par/io/JsonText.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <set>

namespace par::exporting {

using Json = nlohmann::ordered_json;

static bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// A key of a config that is the size of a tensor's dimension.
static const struct {
  const char *key, *tensor;
  size_t dimension;
} sizes[] = {{"vocab_size", "wte.weight", 0},
             {"n_embd", "wte.weight", 1},
             {"n_positions", "wpe.weight", 0},
             {"n_inner", "mlp.c_fc.weight", 1},
             {"vocab_size", "embed_tokens.weight", 0},
             {"hidden_size", "embed_tokens.weight", 1},
             {"intermediate_size", ".up_proj.weight", 0},
             {"intermediate_size", ".down_proj.weight", 1}};

namespace {
class Checker {
public:
  Checker(const std::string &path, const Json &config, const std::vector<io::NamedShape> &tensors)
      : path(path), config(config), tensors(tensors) {}

  io::Status all(const std::string &modelType) const {
    if (!config.contains("model_type") || config["model_type"] != modelType)
      return wrong("model_type", config.value("model_type", Json()), Json(modelType));
    for (const auto &size : sizes)
      for (const io::NamedShape &tensor : tensors)
        if (endsWith(tensor.name, size.tensor) && tensor.shape.size() > size.dimension)
          PAR_TRY(number(size.key, tensor.shape[size.dimension]));
    for (const char *key : {"n_layer", "num_hidden_layers"})
      PAR_TRY(number(key, layers()));
    bool tied = config.value("tie_word_embeddings", Json()).is_boolean()
                    ? config["tie_word_embeddings"].get<bool>()
                    : modelType == "gpt2";
    bool head = false;
    for (const io::NamedShape &tensor : tensors)
      head |= tensor.name == "lm_head.weight";
    return tied == head ? wrong("tie_word_embeddings", Json(tied), Json(!head)) : io::Status();
  }

private:
  io::Status wrong(const std::string &key, const Json &actual, const Json &expected) const {
    return io::Status::error(path + ": " + key + " is " + actual.dump() +
                             ", but the package was compiled with " + expected.dump() +
                             "; give the config it was compiled from with --source");
  }

  /// An absent key has a default that this tool does not know.
  io::Status number(const char *key, int64_t expected) const {
    if (!config.contains(key) || config[key].is_null() || config[key] == expected)
      return {};
    return wrong(key, config[key], Json(expected));
  }

  /// Distinct numbers in names such as "transformer.h.3.ln_1.weight".
  int64_t layers() const {
    std::set<std::string> numbers;
    for (const io::NamedShape &tensor : tensors)
      for (const char *part : {".h.", ".layers."}) {
        size_t at = tensor.name.find(part);
        if (at != std::string::npos) {
          at += std::strlen(part);
          numbers.insert(tensor.name.substr(at, tensor.name.find('.', at) - at));
        }
      }
    return int64_t(numbers.size());
  }

  const std::string &path;
  const Json &config;
  const std::vector<io::NamedShape> &tensors;
};
} // namespace

io::Status makeConfig(const std::string &path, const std::string &content, const std::string &compiled,
                      const std::string &modelType, const std::vector<io::NamedShape> &tensors,
                      io::FileType type, std::string &result) {
  PAR_TRY(io::checkDepth(path, content));
  Json config = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object())
    return io::Status::error(path + ": is no JSON object");
  PAR_TRY(Checker(path, config, tensors).all(modelType));
  Json own = Json::parse(compiled, nullptr, /*allow_exceptions=*/false);
  if (own.is_object() && own.contains("architectures"))
    config["architectures"] = own["architectures"];
  // Transformers 5 writes "dtype" and reads both.
  const char *key = config.contains("dtype") ? "dtype" : "torch_dtype";
  config[key] = type == io::FileType::f32 ? "float32" : type == io::FileType::bf16 ? "bfloat16" : "float16";
  result = config.dump(2) + "\n";
  return {};
}

} // namespace par::exporting
