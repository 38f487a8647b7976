//===- DeviceLists.cpp - what a host's program calls by number ------------------------------------===//
#include "AttributeJson.h"
#include "par/Emit/Manifest.h"
#include "par/Target/LibraryCall.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

void par::addDeviceLists(ModuleOp module, json::Object &manifest) {
  auto device = module.lookupSymbol<ModuleOp>(kDeviceModule);
  if (!device)
    return;
  SmallVector<StringRef> names{"kernels", "products"};
  for (LibraryList list : getLibraryLists(getTarget(module)->kind))
    names.push_back(list.name);
  for (json::Value &program : *manifest.getArray("programs"))
    for (StringRef name : names)
      (*program.getAsObject())[name] = toJson(device->getAttr(("rank." + name).str()));
}
