#include "data/Documents.h"

#include <nlohmann/json.hpp>

namespace par::data {

/// Calls `visit` for what lies between the separators.
static io::Status splitAt(std::string_view separator, std::string_view content, const VisitDocument &visit) {
  for (size_t at = 0; at < content.size();) {
    size_t end = separator.empty() ? std::string_view::npos : content.find(separator, at);
    size_t length = end == std::string_view::npos ? content.size() - at : end - at;
    if (length)
      PAR_TRY(visit(content.substr(at, length), at));
    at += length + separator.size();
  }
  return {};
}

static io::Status visitLine(const std::string &key, std::string_view line, const std::string &place,
                            size_t offset, const VisitDocument &visit) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos)
    return {};
  nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return io::Status::error(place + ": is no JSON object");
  auto value = json.find(key);
  if (value == json.end() || !value->is_string())
    return io::Status::error(place + ": has no string \"" + key +
                             "\"; give the key of the text with --jsonl");
  const std::string &document = value->get_ref<const std::string &>();
  return document.empty() ? io::Status() : visit(document, offset);
}

io::Status forEachDocument(const DataOptions &options, const std::string &path, std::string_view content,
                           const VisitDocument &visit) {
  if (options.jsonKey.empty())
    return splitAt(options.separator, content, visit);
  size_t number = 0, at = 0;
  while (at < content.size()) {
    size_t end = std::min(content.find('\n', at), content.size());
    ++number;
    PAR_TRY(visitLine(options.jsonKey, content.substr(at, end - at),
                      path + ": line " + std::to_string(number), at, visit));
    at = end + 1;
  }
  return {};
}

} // namespace par::data
