#include "core/Error.h"
#include "core/Package.h"
#include "export/Export.h"
#include "export/ModelConfig.h"
#include "export/WeightFiles.h"
#include "par/io/ModelFiles.h"
#include "par/io/Sha256.h"

#include <cstdio>
#include <filesystem>

namespace par::exporting {

namespace fs = std::filesystem;
using rt::check;
using rt::Error;

/// Where config.json is, and the folder of the tokenizer, empty when there is none.
static std::string findConfig(const ExportOptions &options, std::string &folder) {
  if (options.source.empty()) {
    std::string own = options.package + "/config.json";
    if (!io::isFile(own))
      throw Error(options.package + ": has no config.json (it was compiled from a graph); give the model's "
                                    "folder or config.json with --source");
    folder = options.package;
    return own;
  }
  if (!io::isFolder(options.source))
    return options.source;
  folder = options.source;
  return options.source + "/config.json";
}

/// The package's own files are only good as long as their hash is.
static void checkHash(const ExportOptions &options, const rt::Manifest &manifest, const std::string &name,
                      const std::string &content) {
  auto hash = manifest.files.find(name);
  if (hash == manifest.files.end() || hash->second != io::sha256(content))
    throw Error(options.package + "/" + name +
                ": was changed after the package was compiled; compile the package again");
}

/// The config that the package was compiled from, which names the model's class; empty: it was a graph.
static std::string readCompiledConfig(const ExportOptions &options, const rt::Manifest &manifest) {
  std::string path = options.package + "/config.json", content;
  if (!io::isFile(path))
    return content;
  check(io::readFile(path, content));
  checkHash(options, manifest, "config.json", content);
  return content;
}

/// The folder that is written; nothing of the user's is in it.
static std::string checkOutput(std::string target) {
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  std::error_code error;
  if (fs::exists(target, error) && !(fs::is_directory(target, error) && fs::is_empty(target, error)))
    throw Error(target + ": exists and is no empty folder; remove it or give another name with -o");
  fs::path parent = fs::path(target).parent_path();
  if (!parent.empty())
    fs::create_directories(parent, error);
  return target;
}

static void copyCompanions(const ExportOptions &options, const rt::Manifest &manifest,
                           const std::string &folder, const std::string &output,
                           std::vector<std::string> &files) {
  for (const char *name : io::companionFiles) {
    std::string content;
    if (folder.empty() || !io::isFile(folder + "/" + name))
      continue;
    check(io::readFile(folder + "/" + name, content));
    if (options.source.empty())
      checkHash(options, manifest, name, content);
    check(io::writeFile(output + "/" + name, content));
    files.push_back(name);
  }
}

void exportModel(const ExportOptions &options) {
  rt::Manifest manifest = rt::readManifest(options.package);
  rt::ParameterFiles parts =
      rt::parameterFiles(manifest, "par-export cannot write it", "go on with its checkpoints in par-run");
  rt::checkComplete(manifest, parts);
  std::vector<io::NamedShape> tensors = io::shapesOf(parts.tensors);
  io::FileType type = options.typeGiven          ? options.type
                      : manifest.dtype == "bf16" ? io::FileType::bf16
                                                 : io::FileType::f32;
  std::string folder, content, config, path = findConfig(options, folder);
  check(io::readFile(path, content));
  std::string compiled = readCompiledConfig(options, manifest);
  check(makeConfig(path, content, compiled, manifest.modelType, tensors, type, config));
  std::unique_ptr<ParameterSource> source;
  check(openParameters(options.checkpoint, manifest, parts, source));
  io::OutputFolder output;
  check(output.create(checkOutput(options.output), io::randomName()));
  std::vector<std::string> files = {"config.json"};
  check(io::writeFile(output.path() + "/config.json", config));
  copyCompanions(options, manifest, folder, output.path(), files);
  check(writeWeights(output.path(), *source, parts.tensors, type, options.maxShardBytes, files));
  check(output.commit());
  int64_t parameters = 0;
  for (const io::NamedShape &tensor : tensors)
    parameters += io::elementCount(tensor.shape);
  std::printf("%s: %s, %lld parameters in %zu tensors, %zu files\n", options.output.c_str(),
              manifest.modelType.c_str(), static_cast<long long>(parameters), tensors.size(), files.size());
}

} // namespace par::exporting
