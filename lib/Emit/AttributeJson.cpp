//===- AttributeJson.cpp - attributes as JSON
//------------------------------------------------------------===//
#include "AttributeJson.h"

using namespace mlir;
using namespace mlir::par;
namespace json = llvm::json;

json::Value par::toJson(Attribute attribute) {
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
      list.push_back(toJson(item));
    return list;
  }
  json::Object object;
  for (NamedAttribute entry : cast<DictionaryAttr>(attribute))
    object[entry.getName().str()] = toJson(entry.getValue());
  return object;
}
