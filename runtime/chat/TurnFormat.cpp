#include "chat/TurnFormat.h"

namespace par::chat {

static constexpr char contentMark[] = "{content}", roleMark[] = "{role}";

std::string TurnFormat::add(const std::string &turn) {
  size_t sign = turn.find('=');
  if (sign == std::string::npos || sign == 0)
    return "is '" + turn + "', expected ROLE=TEMPLATE";
  std::string role = turn.substr(0, sign), text = turn.substr(sign + 1);
  size_t content = text.find(contentMark);
  if (content == std::string::npos || text.find(contentMark, content + 1) != std::string::npos)
    return "has a template that does not say {content} once: " + turn;
  if (!templates.emplace(role, text).second)
    return "gives the role " + role + " twice";
  return "";
}

TurnFormat TurnFormat::of(const text::Tokenizer &tokenizer) {
  TurnFormat format;
  auto has = [&](const char *token) { return tokenizer.find(token) >= 0; };
  if (has("<|im_start|>") && has("<|im_end|>"))
    format.add("*=<|im_start|>{role}\n{content}<|im_end|>\n");
  else if (has("<|start_header_id|>") && has("<|end_header_id|>") && has("<|eot_id|>"))
    format.add("*=<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>");
  return format;
}

io::Status TurnFormat::frameOf(const std::string &role, Frame &frame) const {
  auto found = templates.find(role);
  if (found == templates.end())
    found = templates.find("*");
  if (found == templates.end())
    return io::Status::error("no --turn says how the role \"" + role + "\" is written");
  frame.before = found->second.substr(0, found->second.find(contentMark));
  frame.behind = found->second.substr(frame.before.size() + sizeof(contentMark) - 1);
  for (std::string *part : {&frame.before, &frame.behind})
    for (size_t at = 0; (at = part->find(roleMark, at)) != std::string::npos; at += role.size())
      part->replace(at, sizeof(roleMark) - 1, role);
  return {};
}

} // namespace par::chat
