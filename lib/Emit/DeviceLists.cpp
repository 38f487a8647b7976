//===- DeviceLists.cpp - what a host's program calls by number ------------------------------------===//
#include "par/Emit/Manifest.h"
#include "par/Target/Target.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

static json::Value toValue(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue().str();
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute))
    return json::Array(numbers.asArrayRef());
  if (auto items = dyn_cast<ArrayAttr>(attribute)) {
    json::Array list;
    for (Attribute item : items)
      list.push_back(toValue(item));
    return list;
  }
  json::Object object;
  for (NamedAttribute entry : cast<DictionaryAttr>(attribute))
    object[entry.getName().str()] = toValue(entry.getValue());
  return object;
}

void par::addDeviceLists(ModuleOp module, json::Object &manifest) {
  auto device = module.lookupSymbol<ModuleOp>(kDeviceModule);
  if (!device)
    return;
  for (json::Value &program : *manifest.getArray("programs"))
    for (StringRef name : {"kernels", "products", "attentions"})
      (*program.getAsObject())[name] = toValue(device->getAttr(("rank." + name).str()));
}
