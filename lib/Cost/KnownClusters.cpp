//===- KnownClusters.cpp - clusters whose files come with par -------------------------------------------===//
#include "par/Cost/KnownClusters.h"
#include "par/Support/ToolPath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir::par;
using llvm::StringRef;

/// The folders lie beside the tools: where these are installed, and where they are built in a checkout.
static constexpr llvm::StringLiteral kFolders[] = {"../share/par/examples/clusters",
                                                   "../../examples/clusters"};
static constexpr llvm::StringLiteral kExtension = ".json";

std::vector<std::string> mlir::par::listKnownClusters() {
  std::vector<std::string> names;
  for (StringRef folder : kFolders) {
    std::error_code code;
    for (llvm::sys::fs::directory_iterator at(getToolPath(folder), code), end; at != end && !code;
         at.increment(code))
      if (llvm::sys::path::extension(at->path()) == kExtension)
        names.push_back(llvm::sys::path::stem(at->path()).str());
    if (!names.empty())
      break;
  }
  llvm::sort(names);
  return names;
}

std::string mlir::par::findKnownCluster(StringRef name) {
  name.consume_back(kExtension);
  if (name.empty() || name != llvm::sys::path::filename(name))
    return "";
  for (StringRef folder : kFolders)
    if (std::string file = getToolPath((folder + "/" + name + kExtension).str()); llvm::sys::fs::exists(file))
      return file;
  return "";
}
