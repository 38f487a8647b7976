/// A JSON value that knows its place in the file, so that every message can name it.
#ifndef PAR_TEXT_JSONNODE_H
#define PAR_TEXT_JSONNODE_H

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace par::text {

/// Does not leave the file that reads the JSON.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonNode {
public:
  using Json = nlohmann::json;
  JsonNode(const Json &json, std::string place) : json(json), place(std::move(place)) {}

  const Json &value() const { return json; }
  [[noreturn]] void fail(const std::string &what) const { throw JsonError(place + ": " + what); }

  JsonNode operator[](const std::string &key) const {
    if (!json.is_object() || !json.contains(key))
      fail("\"" + key + "\" is missing");
    return {json[key], place + ": " + key};
  }
  /// There and not null.
  bool has(const char *key) const { return json.is_object() && json.contains(key) && !json[key].is_null(); }
  std::vector<JsonNode> items() const {
    if (!json.is_array())
      fail("is no list");
    std::vector<JsonNode> nodes;
    for (size_t i = 0; i < json.size(); ++i)
      nodes.emplace_back(json[i], place + "[" + std::to_string(i) + "]");
    return nodes;
  }
  std::string text() const {
    if (!json.is_string())
      fail("is no string");
    return json.get<std::string>();
  }
  std::string text(const char *key) const { return has(key) ? (*this)[key].text() : std::string(); }
  bool boolean(const char *key, bool otherwise) const {
    if (!has(key))
      return otherwise;
    if (!json[key].is_boolean())
      (*this)[key].fail("is neither true nor false");
    return json[key].get<bool>();
  }
  uint32_t integer(uint32_t high) const {
    if (!json.is_number_unsigned() || json.get<uint64_t>() > high)
      fail("is no integer from 0 to " + std::to_string(high));
    return json.get<uint32_t>();
  }
  /// Refuses every key that is not listed: what is not known may change the result.
  void onlyKeys(std::initializer_list<const char *> known) const {
    if (!json.is_object())
      fail("is no object");
    for (const auto &item : json.items()) {
      bool found = false;
      for (const char *key : known)
        found |= item.key() == key;
      if (!found)
        fail("the key \"" + item.key() + "\" is not supported");
    }
  }

private:
  const Json &json;
  std::string place;
};

} // namespace par::text
#endif
