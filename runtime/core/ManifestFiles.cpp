#include "core/ManifestFiles.h"

namespace par::rt {

using Node = io::JsonNode;

static io::Ranges parseRanges(const Node &node) {
  io::Ranges ranges;
  for (const Node &item : node.items()) {
    std::vector<int64_t> pair = item.integers();
    if (pair.size() != 2)
      item.fail("is no [begin, end]");
    ranges.begin.push_back(pair[0]), ranges.end.push_back(pair[1]);
  }
  return ranges;
}

static io::FilePiece parsePiece(const Node &node) {
  io::FilePiece piece;
  piece.name = node["name"].text();
  piece.stack = node.has("stack") ? node["stack"].integer(1) : 0;
  piece.shape = node["shape"].integers(1);
  piece.permutation = node["permutation"].integers();
  if (node.has("view"))
    piece.view = node["view"].integers(1);
  if (node.has("slice"))
    piece.slice = parseRanges(node["slice"]);
  if (node.has("at"))
    piece.part = parseRanges(node["at"]);
  return piece;
}

io::FilePlace parseFile(const Node &node, const io::Shape &variable) {
  io::FilePlace place;
  if (node.has("pieces"))
    for (const Node &item : node["pieces"].items())
      place.pieces.push_back(parsePiece(item));
  else
    place.pieces.push_back(parsePiece(node));
  if (place.pieces.empty())
    node["pieces"].fail("is an empty list");
  if (node.has("offset"))
    place.offset = node["offset"].number();
  return io::withDefaults(std::move(place), variable);
}

} // namespace par::rt
