#include "FolderNames.h"

#include "OtherKinds.h"
#include "par/io/Files.h"

#include <algorithm>
#include <filesystem>

namespace par::io {

FolderNames::FolderNames(const std::string &folder) : path(folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    all.insert(entry->path().filename().string());
}

std::string FolderNames::find(const std::function<bool(const std::string &)> &isIt) const {
  auto found = std::find_if(all.begin(), all.end(), isIt);
  return found == all.end() ? "" : *found;
}

std::string FolderNames::ending(std::string_view end) const {
  return find([&](const std::string &name) { return endsInAnyCase(name, end); });
}

std::string FolderNames::beginning(std::string_view begin) const {
  return find(
      [&](const std::string &name) { return std::string_view(name).substr(0, begin.size()) == begin; });
}

/// The digits at the end, without zeros before them.
static std::string lastNumber(const std::string &name) {
  std::string digits = name.substr(name.find_last_not_of("0123456789") + 1);
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

std::vector<std::string> FolderNames::folders() const {
  std::vector<std::string> list;
  for (const std::string &name : all)
    if (isFolder(pathOf(name)))
      list.push_back(name);
  std::sort(list.begin(), list.end(), [](const std::string &a, const std::string &b) {
    std::string x = lastNumber(a), y = lastNumber(b);
    return x.size() != y.size() ? x.size() < y.size() : x != y ? x < y : a < b;
  });
  return list;
}

} // namespace par::io
