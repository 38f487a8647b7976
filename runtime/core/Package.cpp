#include "core/Package.h"

#include "core/Devices.h"
#include "core/EntryPoints.h"
#include "core/Error.h"
#include "cpu/CpuFeatures.h"
#include "par/io/Files.h"
#include "par/io/Sha256.h"

#include <cstring>
#include <dlfcn.h>
#include <map>

namespace par::rt {

/// SHA-256 of the text with the fingerprint's own digits replaced by zeros.
static void checkFingerprint(const std::string &path, const std::string &text,
                             const std::string &fingerprint) {
  std::string actual = io::sha256WithoutItself(text, fingerprint);
  if (actual.empty())
    throw Error(path + ": fingerprint has " + std::to_string(fingerprint.size()) +
                " characters, expected 64 hexadecimal digits; compile the package again");
  if (actual != fingerprint)
    throw Error(path + ": was changed after it was compiled: its SHA-256 is " + actual.substr(0, 12) +
                "..., its fingerprint " + fingerprint.substr(0, 12) + "...; compile the package again");
}

/// SHA-256 of what the program was compiled with: the manifest without its own hash and those of the files,
/// and without what was proved of it.
static std::string hashForProgram(std::string text, const std::string &fingerprint) {
  const std::string files = "\"files\":{";
  text.replace(text.find("\"" + fingerprint + "\"") + 1, 64, 64, '0');
  size_t begin = text.find(files);
  if (begin == std::string::npos)
    return "";
  begin += files.size();
  text.erase(begin, text.find('}', begin) - begin);
  const std::string proof = "\"proof\":{";
  if (size_t at = text.find(proof); at != std::string::npos) // other keys follow, and it holds no object
    text.erase(at, text.find('}', at) + 2 - at);
  return io::sha256(text);
}

static void checkFiles(const std::string &folder, const Manifest &manifest) {
  for (const auto &[name, hash] : manifest.files) {
    if (name.empty() || name.find('/') != std::string::npos || name == "..")
      throw Error(manifest.path + ": files: \"" + name +
                  "\" is no file of the package; compile the package again");
    io::MappedFile file;
    check(file.open(folder + "/" + name));
    std::string actual = io::sha256({reinterpret_cast<const char *>(file.data()), file.size()});
    if (actual != hash)
      throw Error(folder + "/" + name + ": was changed after it was compiled: its SHA-256 is " +
                  actual.substr(0, 12) + "..., the manifest says " + hash.substr(0, 12) +
                  "...; compile the package again");
  }
  std::vector<std::string> needed;
  for (const Program &program : manifest.programs) {
    needed.push_back(program.file);
    if (!manifest.chip.empty())
      needed.push_back(program.moduleFile());
  }
  for (const std::string &name : needed)
    if (!manifest.files.count(name))
      throw Error(manifest.path + ": files lacks \"" + name + "\"; compile the package again");
}

static void checkVersion(const std::string &path, const char *key, int64_t actual, int64_t expected) {
  if (actual != expected)
    throw Error(path + ": " + key + " is " + std::to_string(actual) + ", this runtime runs " +
                std::to_string(expected) + "; compile the package again with this par-compile");
}

static void checkCpu(const Manifest &manifest) {
  for (const std::string &feature : manifest.cpuFeatures) {
    cpu::CpuSupport support = cpu::cpuSupports(feature);
    if (support == cpu::CpuSupport::unknownName)
      throw Error(manifest.path + ": cpu_features: this runtime does not know the processor feature \"" +
                  feature + "\"");
    if (support == cpu::CpuSupport::no)
      throw Error(manifest.path + ": was compiled for a processor with " + feature +
                  ", which this one lacks; compile with --cpu native here or a lower --cpu");
  }
}

Manifest readManifest(const std::string &folder) {
  if (!io::isFolder(folder))
    throw Error(folder + ": is no package: there is no such folder");
  std::string path = folder + "/manifest.json", text;
  if (!io::isFile(path))
    throw Error(folder +
                ": is no package: it has no manifest.json; par-compile MODEL -o DIR.par makes packages");
  check(io::readFile(path, text));
  ManifestHead head = parseHead(path, text);
  checkFingerprint(path, text, head.fingerprint);
  checkVersion(path, "format_version", head.formatVersion, packageFormatVersion);
  checkVersion(path, "abi_version", head.abiVersion, PAR_ABI_VERSION);
  Manifest manifest = parseManifest(path, text);
  checkManifest(manifest);
  manifest.programHash = hashForProgram(text, head.fingerprint);
  return manifest;
}

Manifest openPackage(const std::string &folder) {
  Manifest manifest = readManifest(folder);
  checkDevice(manifest);
  checkFiles(folder, manifest);
  checkCpu(manifest);
  return manifest;
}

/// Offsets, counts and sizes are in the program's code as well as in the manifest.
static void checkProgram(void *library, const std::string &path, const Manifest &manifest) {
  const char *hash = static_cast<const char *>(dlsym(library, "par_manifest"));
  if (!hash || std::string(hash, strnlen(hash, 64)) != manifest.programHash)
    throw Error(path + ": was compiled with another manifest than " + manifest.path +
                "; compile the package again");
}

/// For as long as the process lives.
static void *openProgram(const std::string &folder, const Manifest &manifest, const std::string &file) {
  std::string path = folder + "/" + file;
  // A path with a slash keeps dlopen from searching the library folders.
  if (path.find('/') == std::string::npos)
    path = "./" + path;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(path + ": cannot be loaded: " + dlerror());
  checkProgram(library, path, manifest);
  return library;
}

static Schedule scheduleOf(void *library, const std::string &path, const std::string &function) {
  void *symbol = dlsym(library, function.c_str());
  if (!symbol)
    throw Error(path + ": has no function " + function + "; compile the package again");
  return reinterpret_cast<Schedule>(symbol);
}

std::vector<Schedule> loadSchedules(const std::string &folder, const Manifest &manifest,
                                    const std::string &name) {
  keepEntryPoints();
  std::map<std::string, void *> libraries; // programs may share a file
  std::vector<Schedule> schedules;
  for (const Program &program : manifest.programs) {
    auto [library, isNew] = libraries.try_emplace(program.file, nullptr);
    if (isNew)
      library->second = openProgram(folder, manifest, program.file);
    const ManifestSchedule *schedule = program.findSchedule(name);
    schedules.push_back(
        schedule ? scheduleOf(library->second, folder + "/" + program.file, schedule->function) : nullptr);
  }
  return schedules;
}

} // namespace par::rt
