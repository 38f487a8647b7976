#include "WeightIndex.h"
#include "ParseJson.h"

#include "par/io/Files.h"
#include "par/io/JsonText.h"

#include <nlohmann/json.hpp>

namespace par::io {

using Json = nlohmann::json;

static Status wrong(const std::string &path, const std::string &what) {
  return Status::error(path + ": " + what + "; fetch the model's index again");
}

/// A tensor that an object names twice would be the one or the other, depending on the reader.
static Status parse(const std::string &path, const std::string &text, Json &index) {
  std::string twice;
  index = parseJson(text, twice);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return wrong(path, "is no JSON object with a weight_map");
  return twice.empty() ? Status() : wrong(path, "has \"" + twice + "\" twice");
}

/// Links are followed, as the files of Hugging Face's cache are links; names that lead elsewhere are not.
static bool isNameInFolder(const std::string &name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Status readWeightIndex(const std::string &path, std::map<std::string, std::string> &files) {
  std::string text;
  PAR_TRY(readFile(path, text));
  PAR_TRY(checkDepth(path, text));
  Json index;
  PAR_TRY(parse(path, text, index));
  if (index["weight_map"].empty())
    return wrong(path, "has an empty weight_map, which names no tensor");
  for (const auto &[tensor, file] : index["weight_map"].items()) {
    if (!file.is_string() || !isNameInFolder(file.get<std::string>()))
      return wrong(path, "weight_map of \"" + tensor + "\" names no file of this folder");
    files[tensor] = file.get<std::string>();
  }
  return {};
}

} // namespace par::io
