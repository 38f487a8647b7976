/// Names in a folder, without those of its subfolders.
#ifndef PAR_IO_FOLDERNAMES_H
#define PAR_IO_FOLDERNAMES_H

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace par::io {

class FolderNames {
public:
  explicit FolderNames(const std::string &folder);
  const std::string &folder() const { return path; }
  std::string pathOf(const std::string &name) const { return path + "/" + name; }
  bool has(const std::string &name) const { return all.count(name) != 0; }
  /// The first name, in order, or nothing.
  std::string find(const std::function<bool(const std::string &)> &isIt) const;
  std::string ending(std::string_view end) const;
  std::string beginning(std::string_view begin) const;
  /// Names of folders, those that numbers end by these: checkpoint-90 before checkpoint-100.
  std::vector<std::string> folders() const;

private:
  std::string path;
  std::set<std::string> all;
};

} // namespace par::io
#endif
