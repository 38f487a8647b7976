#include "core/WayCache.h"

#include "par/io/Files.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace par::rt {

using nlohmann::json;

/// Empty where it is not set, or no absolute path: then it means nothing by the rule of such variables.
static std::string folderOf(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value == '/' ? value : "";
}

static std::string fileOf(const std::string &machine) {
  std::string folder = folderOf("XDG_CACHE_HOME"), home = folderOf("HOME"), name;
  if (folder.empty() && home.empty())
    return "";
  for (char letter : machine)
    if (std::isalnum(static_cast<unsigned char>(letter)) || letter == '.')
      name += letter;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  return (folder.empty() ? home + "/.cache" : folder) + "/par/products-" + name + ".json";
}

WayCache::WayCache(const std::string &machine) : machine(machine), file(fileOf(machine)) {}

/// Names of other machines may lead to this file's, too.
Ways WayCache::read() const {
  std::string text;
  Ways ways;
  if (file.empty() || !io::isFile(file) || !io::readFile(file, text).ok())
    return ways;
  json content = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!content.is_object() || content.value("machine", json()) != json(machine) ||
      !content["products"].is_object())
    return ways;
  for (const auto &[product, way] : content["products"].items())
    if (way.is_number_unsigned() && way.get<uint64_t>() < 1000)
      ways[product] = way.get<int>();
  return ways;
}

io::Status WayCache::add(const Ways &measured) const {
  if (file.empty())
    return io::Status::error("there is no home folder");
  Ways all = read();
  for (const auto &[product, way] : measured)
    all[product] = way;
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), code);
  if (code)
    return io::Status::error(file + ": its folder cannot be made: " + code.message());
  json content = {{"machine", machine}, {"products", all}};
  return io::writeFile(file, content.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

} // namespace par::rt
