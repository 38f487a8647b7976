#include "chat/ChatTemplate.h"

#include "chat/TemplateFunctions.h"
#include "par/io/Files.h"
#include "text/EndTokens.h"

namespace par::chat {

/// A token's text: itself, or its "content".
static Json textOf(const nlohmann::json &token) {
  if (token.is_string())
    return token.get<std::string>();
  if (token.is_object() && token.contains("content") && token["content"].is_string())
    return token["content"].get<std::string>();
  return undefined();
}

/// One template, or the one called "default" of several.
static io::Status choose(const nlohmann::json &entry, const std::string &place, std::string &source) {
  if (entry.is_string()) {
    source = entry;
    return {};
  }
  if (entry.is_array())
    for (const auto &one : entry)
      if (one.is_object() && one.value("name", nlohmann::json()) == "default" && one.contains("template") &&
          one["template"].is_string()) {
        source = one["template"];
        return {};
      }
  return io::Status::error(place +
                           " is neither a template nor a list of templates of which one is called default");
}

/// Names of {% for a, b in … %}, which no conversation gives.
static std::set<std::string> namesOfLoops(const std::vector<Word> &words) {
  std::set<std::string> names = {"loop"};
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i - 1].kind == Word::openBlock && words[i].text == "for")
      for (++i; i < words.size() && words[i].text != "in" && words[i].kind != Word::close; ++i)
        names.insert(words[i].text);
  return names;
}

void ChatTemplate::listNames(const std::vector<Word> &words) {
  std::set<std::string> ofLoops = namesOfLoops(words);
  for (size_t i = 1; i < words.size(); ++i) {
    const Word &word = words[i];
    bool isMember = words[i - 1].kind == Word::sign && words[i - 1].text == ".";
    if (word.kind == Word::string || (word.kind == Word::name && isMember))
      keys.insert(word.text);
    else if (word.kind == Word::name && !ofLoops.count(word.text))
      variables.insert(word.text);
    hasMarks |= words[i - 1].kind == Word::openBlock && word.text == "generation";
  }
}

io::Status ChatTemplate::parse(const std::string &source) {
  try {
    block = parseTemplate(source);
    listNames(cutTemplate(source));
  } catch (const TemplateError &error) {
    problem = error.what();
  }
  return {};
}

io::Status ChatTemplate::open(const std::string &folder) {
  nlohmann::json config, map;
  PAR_TRY(text::readModelJson(folder + "/tokenizer_config.json", config));
  PAR_TRY(text::readModelJson(folder + "/special_tokens_map.json", map));
  for (const char *name :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
    for (const nlohmann::json *json : {&config, &map})
      if (json->is_object() && json->contains(name) && !tokens.contains(name))
        tokens[name] = textOf((*json)[name]);
  std::string source;
  if (std::string file = folder + "/chat_template.jinja"; io::isFile(file)) {
    PAR_TRY(io::readFile(file, source));
    place = file;
  } else if (config.is_object() && config.contains("chat_template") && !config["chat_template"].is_null()) {
    place = folder + "/tokenizer_config.json: chat_template";
    PAR_TRY(choose(config["chat_template"], place, source));
  } else {
    return {};
  }
  return parse(source);
}

const Json *reasoningOf(const Json &message) {
  for (const char *name : {"reasoning_content", "thinking", "reasoning"})
    if (has(message, name))
      return &message[name];
  return nullptr;
}

/// Reasoning has several names. Transformers gives templates each of those that they read.
static Json withReasoning(const Json &messages) {
  Json all = Json::array();
  for (const Json &message : messages) {
    const Json *reasoning = message.is_object() ? reasoningOf(message) : nullptr;
    Json named = reasoning ? Json{{"thinking", *reasoning}} : Json::object();
    if (reasoning) {
      for (const auto &[key, value] : message.items())
        named[key] = value;
      named["reasoning_content"] = *reasoning;
    }
    all.push_back(reasoning ? std::move(named) : message);
  }
  return all;
}

io::Status ChatTemplate::write(const Messages &messages, bool asks, Written &written) const {
  if (!problem.empty())
    return io::Status::error(place + ": " + problem);
  Json variables = tokens;
  if (messages.settings.is_object())
    variables.update(messages.settings);
  variables["messages"] = withReasoning(messages.list);
  variables["tools"] = messages.tools;
  variables["documents"] = nullptr;
  variables["add_generation_prompt"] = asks;
  try {
    written = evaluate(block, variables);
  } catch (const TemplateError &error) {
    return io::Status::error(place + ": " + error.what());
  } catch (const nlohmann::json::exception &error) { // a text that is no UTF-8
    return io::Status::error(place + ": " + error.what());
  }
  return {};
}

} // namespace par::chat
