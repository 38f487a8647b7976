#include "data/Documents.h"

#include "chat/ConversationJson.h"

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

static io::Status visitText(const std::string &key, std::string_view line, size_t offset,
                            const VisitDocument &visit) {
  chat::Json json;
  PAR_TRY(chat::readJsonObject(line, json));
  auto value = json.find(key);
  if (value == json.end() || !value->is_string())
    return io::Status::error("has no string \"" + key + "\"; give the key of the text with --jsonl");
  const std::string &document = value->get_ref<const std::string &>();
  return document.empty() ? io::Status() : visit(document, offset);
}

io::Status forEachLine(const std::string &path, std::string_view content, const VisitDocument &visit) {
  size_t number = 0;
  for (size_t at = 0, end; at < content.size(); at = end + 1) {
    end = std::min(content.find('\n', at), content.size());
    ++number;
    std::string_view line = content.substr(at, end - at);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    if (io::Status status = visit(line, at); !status.ok())
      return io::Status::error(path + ": line " + std::to_string(number) + ": " + status.message());
  }
  return {};
}

io::Status forEachDocument(const DataOptions &options, const std::string &path, std::string_view content,
                           const VisitDocument &visit) {
  if (options.jsonKey.empty())
    return splitAt(options.separator, content, visit);
  io::Status failure; // of a document, which names its place already
  io::Status status = forEachLine(path, content, [&](std::string_view line, size_t offset) {
    return visitText(options.jsonKey, line, offset,
                     [&](std::string_view document, size_t at) { return failure = visit(document, at); });
  });
  return failure.ok() ? status : failure;
}

} // namespace par::data
