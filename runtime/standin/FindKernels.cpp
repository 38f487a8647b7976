#include "standin/Kernels.h"

#include "par/io/Sha256.h"
#include "standin/CombineKernels.h"
#include "standin/Report.h"

#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace par::standin {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static std::map<std::string, par_emulated_kernel> &given() {
  static std::map<std::string, par_emulated_kernel> kernels;
  return kernels;
}

void giveKernel(const std::string &name, par_emulated_kernel kernel) { given()[name] = kernel; }
void forgetKernels() { given().clear(); }

/// Empty where there is none: then nothing has its hash.
static std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "program0.ptx" of the package that has this very text; empty: none.
static fs::path fileOf(const std::string &text, const std::vector<std::string> &folders) {
  std::string hash = io::sha256(text);
  for (const std::string &folder : folders) {
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".ptx" && io::sha256(contentOf(entry.path())) == hash)
        return entry.path();
    }
    if (error)
      report("package " + folder + ": " + error.message());
  }
  return {};
}

static Role roleOf(const std::string &access) {
  return access == "read" ? Role::read : access == "write" ? Role::write : Role::update;
}

/// The list `kernels` of the programs that have the file: stages may share one.
static void describe(const fs::path &file, cuda::CUmod_st &module) {
  Json manifest =
      Json::parse(contentOf(file.parent_path() / "manifest.json"), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object())
    return report((file.parent_path() / "manifest.json").string() + " is no manifest");
  for (const Json &program : manifest.value("programs", Json::array())) {
    if (fs::path(program.value("file", "")).stem() != file.stem())
      continue;
    for (const Json &item : program.value("kernels", Json::array())) {
      auto found = module.functions.find(item.value("name", ""));
      if (found == module.functions.end() || found->second->kernel.isDescribed)
        continue;
      Kernel &kernel = found->second->kernel;
      kernel.isDescribed = true;
      for (const Json &buffer : item.value("buffers", Json::array()))
        kernel.buffers.push_back({buffer.value("bytes", uint64_t(0)), roleOf(buffer.value("access", ""))});
    }
  }
}

static void *openEmulated(const fs::path &file) {
  fs::path path = file.parent_path() / (file.stem().string() + ".emulated.so");
  void *library = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    report("no emulated kernels: " + std::string(dlerror()) + "; par-emulate writes them into a package");
  return library;
}

void findKernels(const std::string &text, const PtxModule &ptx, const std::vector<std::string> &folders,
                 cuda::CUmod_st &module) {
  for (const auto &[name, kernel] : ptx.kernels) {
    auto &function = module.functions[name] = std::make_unique<cuda::CUfunc_st>();
    function->kernel.name = name;
    function->kernel.text = kernel;
    auto found = given().find(name);
    function->kernel.emulated = found != given().end() ? found->second : findCombineKernel(name);
  }
  fs::path file = fileOf(text, folders);
  if (file.empty())
    return;
  describe(file, module);
  void *library = openEmulated(file);
  for (auto &[name, function] : module.functions)
    if (void *symbol = library ? dlsym(library, ("par_emulated_" + name).c_str()) : nullptr)
      function->kernel.emulated = reinterpret_cast<par_emulated_kernel>(symbol);
}

} // namespace par::standin
