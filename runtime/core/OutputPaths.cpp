#include "core/OutputPaths.h"

#include "core/Error.h"
#include "par/config/FileUses.h"

#include <filesystem>

namespace par::rt {

namespace fs = std::filesystem;

namespace {
struct Path {
  std::string flag, given;
  fs::path real;
};
} // namespace

static Path pathOf(const std::string &flag, const std::string &given) {
  return {flag, given, config::resolvePath(given)};
}

static bool isSame(const Path &a, const Path &b) { return config::isSameFile(a.real, b.real); }

static std::vector<Path> outputsOf(const RunOptions &options) {
  std::vector<Path> list;
  for (const auto &[flag, path] :
       {std::pair("--metrics", &options.metrics), std::pair("--trace", &options.trace),
        std::pair("--save-params", &options.saveParams), std::pair("--save-grads", &options.saveGrads),
        std::pair("--checkpoint", &options.checkpoint)})
    if (!path->empty())
      list.push_back(pathOf(flag, *path));
  return list;
}

/// A file of tokens, and the other half of Megatron's.
static void addTokens(const std::string &flag, const std::string &source, std::vector<Path> &list) {
  list.push_back(pathOf(flag, source));
  fs::path other = source;
  if (other.extension() == ".bin" || other.extension() == ".idx")
    list.push_back(pathOf(flag, other.replace_extension(other.extension() == ".bin" ? ".idx" : ".bin")));
}

static std::vector<Path> inputsOf(const RunOptions &options, const Manifest &manifest) {
  std::vector<Path> list = {pathOf("the package", options.package),
                            pathOf("the package's manifest", manifest.path)};
  for (const auto &entry : manifest.files)
    list.push_back(pathOf("a file of the package", options.package + "/" + entry.first));
  for (const std::string &source : options.data.sources)
    if (source != "random")
      addTokens("--data", source, list);
  for (const std::string &source : options.evalData.sources)
    addTokens("--eval-data", source, list);
  for (const std::string &file : options.data.rows)
    list.push_back(pathOf("--data", file));
  for (const std::string &file : options.evalData.rows)
    list.push_back(pathOf("--eval-data", file));
  for (const std::string &input : options.inputs)
    if (std::string value = input.substr(input.find('=') + 1); io::isFile(value))
      list.push_back(pathOf("--input", value));
  if (!options.weights.empty())
    list.push_back(pathOf("--weights", options.weights));
  return list;
}

/// A file of a folder that is read as a whole: a model's, a checkpoint.
static bool isFileOf(const Path &output, const std::string &folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && fs::is_regular_file(output.real, error) &&
         output.real.parent_path() == config::resolvePath(folder);
}

static bool isInCheckpoint(const Path &output) {
  std::error_code error;
  return fs::exists(output.real.parent_path() / "checkpoint.json", error);
}

void checkOutputs(const RunOptions &options, const Manifest &manifest) {
  std::vector<Path> outputs = outputsOf(options), inputs = inputsOf(options, manifest);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Path &output = outputs[i];
    std::string what = output.flag + " " + output.given + ": ";
    for (size_t other = 0; other < i; ++other)
      if (isSame(output, outputs[other]))
        throw Error(what + "is also what " + outputs[other].flag + " writes; give each its own name");
    for (const Path &input : inputs)
      if (isSame(output, input))
        throw Error(what + "is also " + input.flag + ", which is read; give another name");
    if (isFileOf(output, options.weights))
      throw Error(what + "is a file of --weights " + options.weights + "; give another name");
    if (isInCheckpoint(output))
      throw Error(what + "is in a checkpoint, which holds its own files only; give another name");
  }
}

} // namespace par::rt
