/// A JSON value that knows its place in the file, so that every message can name it.
#ifndef PAR_IO_JSONNODE_H
#define PAR_IO_JSONNODE_H

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace par::io {

/// "PLACE: what is wrong". Does not leave the file that reads the JSON: who catches it adds the remedy.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonNode {
public:
  using Json = nlohmann::json;
  JsonNode(const Json &json, std::string place) : json(json), place(std::move(place)) {}

  const Json &value() const { return json; }
  [[noreturn]] void fail(const std::string &what) const {
    throw JsonError(place.empty() ? what : place + ": " + what);
  }

  JsonNode operator[](const std::string &key) const {
    if (!json.is_object() || !json.contains(key))
      fail("\"" + key + "\" is missing");
    return {json[key], inside(key)};
  }
  /// There and not null.
  bool has(const char *key) const { return json.is_object() && json.contains(key) && !json[key].is_null(); }
  std::vector<JsonNode> items() const {
    std::vector<JsonNode> nodes;
    for (size_t i = 0; i < size(); ++i)
      nodes.push_back(at(i));
    return nodes;
  }
  std::map<std::string, JsonNode> byName() const {
    if (!json.is_object())
      fail("is no object");
    std::map<std::string, JsonNode> map;
    for (const auto &item : json.items())
      map.emplace(item.key(), JsonNode(item.value(), inside(item.key())));
    return map;
  }

  std::string text() const {
    if (!json.is_string())
      fail("is no string");
    return json.get<std::string>();
  }
  std::string text(const char *key) const { return has(key) ? (*this)[key].text() : std::string(); }
  bool boolean() const {
    if (!json.is_boolean())
      fail("is " + json.dump() + ", expected true or false");
    return json.get<bool>();
  }
  bool boolean(const char *key, bool otherwise) const {
    return has(key) ? (*this)[key].boolean() : otherwise;
  }
  double number() const {
    if (!json.is_number())
      fail("is no number");
    return json.get<double>();
  }
  /// The library turns any number into any type of integer without a word.
  int64_t integer(int64_t low = 0, int64_t high = INT64_MAX) const {
    if (!isInteger(json, low, high))
      fail("is " + json.dump() + ", expected an integer from " + std::to_string(low) + " to " +
           std::to_string(high));
    return json.get<int64_t>();
  }
  uint64_t unsignedInteger() const {
    if (!json.is_number_unsigned())
      fail("is " + json.dump() + ", expected an integer from 0 on");
    return json.get<uint64_t>();
  }

  std::vector<int64_t> integers(int64_t low = 0, int64_t high = INT64_MAX) const {
    std::vector<int64_t> list;
    for (size_t i = 0; i < size(); ++i) // places of long lists are made only when needed
      list.push_back(isInteger(json[i], low, high) ? json[i].get<int64_t>() : at(i).integer(low, high));
    return list;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> list;
    for (size_t i = 0; i < size(); ++i)
      list.push_back(json[i].is_string() ? json[i].get<std::string>() : at(i).text());
    return list;
  }
  std::map<std::string, std::string> textsByName() const {
    std::map<std::string, std::string> map;
    for (const auto &[key, node] : byName())
      map[key] = node.text();
    return map;
  }
  /// Values of any kind, as texts of JSON.
  std::map<std::string, std::string> jsonByName() const {
    std::map<std::string, std::string> map;
    for (const auto &[key, node] : byName())
      map[key] = node.json.dump();
    return map;
  }

  /// Refuses every key that is not listed: what is not known may change the result.
  void onlyKeys(std::initializer_list<const char *> known) const {
    for (const auto &entry : byName()) {
      bool found = false;
      for (const char *key : known)
        found |= entry.first == key;
      if (!found)
        fail("the key \"" + entry.first + "\" is not supported");
    }
  }

private:
  static bool isInteger(const Json &json, int64_t low, int64_t high) {
    bool large = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX);
    return json.is_number_integer() && !large && json.get<int64_t>() >= low && json.get<int64_t>() <= high;
  }
  std::string inside(const std::string &key) const { return place.empty() ? key : place + ": " + key; }
  JsonNode at(size_t i) const { return {json[i], place + "[" + std::to_string(i) + "]"}; }
  size_t size() const {
    if (!json.is_array())
      fail("is no list");
    return json.size();
  }

  const Json &json;
  std::string place;
};

} // namespace par::io
#endif
