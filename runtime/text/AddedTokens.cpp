#include "text/AddedTokens.h"

namespace par::text {

void AddedTokens::add(std::string_view content, uint32_t id) {
  if (content.empty())
    return;
  first[static_cast<unsigned char>(content[0])] = true;
  uint32_t node = 0;
  for (unsigned char byte : content) {
    auto [child, added] = children.insert({uint64_t(node) << 8 | byte, nodes});
    nodes += added;
    node = child->second;
  }
  ids[node] = id;
}

bool AddedTokens::matchAt(std::string_view text, size_t begin, Match &match) const {
  bool found = false;
  uint32_t node = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    auto child = children.find(uint64_t(node) << 8 | static_cast<unsigned char>(text[at]));
    if (child == children.end())
      break;
    node = child->second;
    auto id = ids.find(node);
    if (id != ids.end())
      match = {begin, at + 1, id->second}, found = true;
  }
  return found;
}

bool AddedTokens::find(std::string_view text, size_t from, Match &match) const {
  if (empty())
    return false;
  for (size_t at = from; at < text.size(); ++at)
    if (first[static_cast<unsigned char>(text[at])] && matchAt(text, at, match))
      return true;
  return false;
}

} // namespace par::text
