#include "par/io/JsonText.h"

#include "par/Limits.h"

namespace par::io {

Status checkDepth(const std::string &path, std::string_view json) {
  unsigned depth = 0;
  for (size_t at = 0; at < json.size(); ++at)
    switch (json[at]) {
    case '"':
      for (++at; at < json.size() && json[at] != '"'; ++at)
        at += json[at] == '\\';
      break;
    case '[':
    case '{':
      if (++depth > limits::jsonLevels)
        return Status::error(path + ": brackets nest deeper than " + std::to_string(limits::jsonLevels) +
                             " levels, which no such file does");
      break;
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  return {};
}

} // namespace par::io
