#include "par/config/FileUses.h"

#include "par/io/ModelFiles.h"

#include <algorithm>
#include <filesystem>

namespace par::config {

namespace fs = std::filesystem;

fs::path resolvePath(const std::string &given) {
  std::error_code error;
  fs::path path = fs::absolute(given, error);
  fs::path real = fs::weakly_canonical(path, error); // "link/.." is where the link's folder lies
  path = error ? path.lexically_normal() : real;
  return path.has_filename() ? path : path.parent_path();
}

/// By name, or by the file itself where both are there (another hard link).
bool isSameFile(const std::string &one, const std::string &other) {
  std::error_code error;
  fs::path a = resolvePath(one), b = resolvePath(other);
  if (fs::exists(a, error) && fs::is_other(a, error))
    return false;
  return a == b || (fs::exists(a, error) && fs::exists(b, error) && fs::equivalent(a, b, error));
}

/// Whether readers of a model's folder may read a file of that name in it.
static bool isModelFile(const fs::path &name) {
  const auto &others = io::companionFiles;
  return name == "config.json" || name.extension() == ".safetensors" ||
         name == "model.safetensors.index.json" ||
         std::find(std::begin(others), std::end(others), name.string()) != std::end(others);
}

static bool isFileOf(const std::string &path, const std::string &folder) {
  std::error_code error;
  fs::path file = resolvePath(path);
  return fs::is_directory(folder, error) && fs::is_regular_file(file, error) &&
         file.parent_path() == resolvePath(folder) && isModelFile(file.filename());
}

static bool isFile(const std::string &path) { return !path.empty() && path != "-"; }

void FileUses::addRead(const std::string &flag, const std::string &path) {
  if (isFile(path))
    read.push_back({flag, path});
}

void FileUses::addWritten(const std::string &flag, const std::string &path) {
  if (isFile(path))
    written.push_back({flag, path});
}

std::string FileUses::findClash() const {
  for (size_t i = 0; i < written.size(); ++i) {
    std::string what = written[i].flag + " " + written[i].path + ": is ";
    for (size_t other = 0; other < i; ++other)
      if (isSameFile(written[i].path, written[other].path))
        return what + "also what " + written[other].flag + " writes; give each its own name";
    for (const Use &use : read)
      if (isSameFile(written[i].path, use.path))
        return what + "also " + use.flag + ", which is read; give another name";
      else if (isFileOf(written[i].path, use.path))
        return what + "a file of " + use.flag + " " + use.path + ", which is read; give another name";
  }
  return "";
}

} // namespace par::config
