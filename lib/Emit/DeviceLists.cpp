//===- DeviceLists.cpp - what a host's program calls by number ------------------------------------===//
#include "AttributeJson.h"
#include "par/Emit/Manifest.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

void par::addDeviceLists(ModuleOp module, json::Object &manifest) {
  auto device = module.lookupSymbol<ModuleOp>(kDeviceModule);
  if (!device)
    return;
  for (json::Value &program : *manifest.getArray("programs"))
    for (StringRef name : {"kernels", "products", "attentions"})
      (*program.getAsObject())[name] = toJson(device->getAttr(("rank." + name).str()));
}
