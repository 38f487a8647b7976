/// Changes one value of a JSON text: mutations of bytes alone hardly ever pass the parser.
#ifndef PAR_TEST_JSONMUTATOR_H
#define PAR_TEST_JSONMUTATOR_H

#include <nlohmann/json.hpp>

#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace par::fuzz {

using Json = nlohmann::json;

inline void collect(Json &node, std::vector<Json *> &all) {
  all.push_back(&node);
  if (node.is_structured() && all.size() < 20000)
    for (Json &child : node)
      collect(child, all);
}

/// A value that readers like to get wrong.
inline Json interesting(std::mt19937 &random) {
  static const Json values[] = {nullptr,
                                true,
                                0,
                                1,
                                -1,
                                2,
                                3,
                                255,
                                65536,
                                INT32_MAX,
                                int64_t(1) << 40,
                                int64_t(1) << 62,
                                INT64_MAX,
                                INT64_MIN,
                                UINT64_MAX,
                                0.5,
                                1e308,
                                "",
                                "a",
                                "../x",
                                Json::array(),
                                Json::object(),
                                Json::array({1}),
                                Json::array({int64_t(1) << 40, int64_t(1) << 40}),
                                Json::parse("[[[[[[]]]]]]")};
  return values[random() % (sizeof(values) / sizeof(values[0]))];
}

inline void change(Json &root, std::mt19937 &random) {
  std::vector<Json *> all;
  collect(root, all);
  Json &target = *all[random() % all.size()];
  switch (random() % 5) {
  case 0:
  case 1:
    target = interesting(random);
    break;
  case 2: { // a copy of another value
    Json copy = *all[random() % all.size()];
    target = std::move(copy);
    break;
  }
  case 3: // one entry more
    if (target.is_array())
      target.push_back(target.empty() ? interesting(random) : Json(target[random() % target.size()]));
    else if (target.is_object())
      target["extra"] = interesting(random);
    break;
  case 4: // one less
    if (target.is_structured() && !target.empty())
      target.erase(std::next(target.begin(), long(random() % target.size())));
    break;
  }
}

/// Half of the time changes some values of the text, else bytes.
inline size_t mutateJson(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  Json root = random() % 4 ? Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false) : Json();
  if (!root.is_structured())
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned times = 1 + random() % 3; times > 0; --times)
    change(root, random);
  std::string text = root.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

} // namespace par::fuzz
#endif
