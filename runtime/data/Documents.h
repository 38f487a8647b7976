/// The documents of an input.
#ifndef PAR_DATA_DOCUMENTS_H
#define PAR_DATA_DOCUMENTS_H

#include "data/Data.h"

#include <functional>
#include <string_view>

namespace par::data {

/// Takes a document that is not empty; its first byte is `offset` bytes into the input (with JSON: its line
/// is).
using VisitDocument = std::function<io::Status(std::string_view document, size_t offset)>;

/// Calls `visit` for every line that is not blank; its errors get the line's number.
io::Status forEachLine(const std::string &path, std::string_view content, const VisitDocument &visit);

/// Calls `visit` for every document of `content`; `path` is for messages.
io::Status forEachDocument(const DataOptions &options, const std::string &path, std::string_view content,
                           const VisitDocument &visit);

} // namespace par::data
#endif
