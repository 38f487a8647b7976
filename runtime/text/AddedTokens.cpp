#include "text/AddedTokens.h"

#include "text/Utf8.h"

namespace par::text {

void AddedTokens::add(std::string_view content, const AddedToken &token) {
  if (content.empty())
    return;
  first[static_cast<unsigned char>(content[0])] = true;
  uint32_t node = 0;
  for (unsigned char byte : content) {
    auto [child, added] = children.insert({uint64_t(node) << 8 | byte, nodes});
    nodes += added;
    node = child->second;
  }
  tokens[node] = token;
}

const AddedToken *AddedTokens::matchAt(std::string_view text, size_t begin, size_t &end) const {
  const AddedToken *found = nullptr;
  uint32_t node = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    auto child = children.find(uint64_t(node) << 8 | static_cast<unsigned char>(text[at]));
    if (child == children.end())
      break;
    node = child->second;
    if (auto token = tokens.find(node); token != tokens.end())
      found = &token->second, end = at + 1;
  }
  return found;
}

bool AddedTokens::find(std::string_view text, size_t from, Match &match) const {
  if (empty())
    return false;
  for (size_t at = from; at < text.size(); ++at) {
    if (!first[static_cast<unsigned char>(text[at])])
      continue;
    size_t end;
    const AddedToken *token = matchAt(text, at, end);
    if (!token)
      continue;
    std::string_view before = text.substr(0, at), behind = text.substr(end);
    if (token->singleWord && (endsWithWord(before) || beginsWithWord(behind))) {
      at = end - 1; // what lies within it is not looked at again
      continue;
    }
    match.begin = token->lstrip ? at - blanksAtEnd(before) : at;
    match.end = token->rstrip ? end + blanksAtBegin(behind) : end;
    match.next = end, match.id = token->id, match.lstrip = token->lstrip;
    return true;
  }
  return false;
}

} // namespace par::text
