//===- AttentionPlans.cpp - cuDNN's plans in a package ----------------------------------------------===//
#include "par/Emit/AttentionPlans.h"
#include "par/CudnnPlans.h"
#include "par/Support/MakeError.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir::par;
namespace json = llvm::json;

/// Programs that share a file share its lists.
static std::map<std::string, const json::Value *> findPrograms(const json::Object &manifest) {
  std::map<std::string, const json::Value *> programs;
  for (const json::Value &program : *manifest.getArray("programs"))
    programs.emplace(llvm::sys::path::stem(*program.getAsObject()->getString("file")), &program);
  return programs;
}

llvm::Error mlir::par::addAttentionPlans(const json::Object &manifest, PackageWriter &package) {
  for (auto &[stem, program] : findPrograms(manifest)) {
    std::string text, stored;
    llvm::raw_string_ostream(text) << *program;
    ::par::io::Status status =
        ::par::cuda::planAttentionForPackage(text, manifest.getString("chip")->str(), stored);
    if (!status.ok())
      return makeError("--cudnn-plans: " + status.message());
    if (llvm::Error error = package.write(stem + ::par::cuda::cudnnPlansExtension, stored))
      return error;
  }
  return llvm::Error::success();
}
