//===- Plugins.cpp - what is added to par's tools from outside ------------------------------------------===//
#include "par/Source/Plugins.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "par/Support/MakeError.h"

using namespace mlir;
using namespace mlir::par;

void par::describePluginFlag(Flags &flags, std::vector<std::string> &plugins) {
  flags.list("plugin", "FILE.so", "adds formats of models and passes that annotate (docs/Plugins.md)",
             plugins);
}

llvm::Error par::loadPlugins(ArrayRef<std::string> plugins) {
  for (const std::string &path : plugins) {
    llvm::Expected<PassPlugin> plugin = PassPlugin::load(path);
    if (!plugin)
      return makeError("--plugin " + path + ": " + llvm::toString(plugin.takeError()));
    plugin->registerPassRegistryCallbacks();
  }
  return llvm::Error::success();
}
