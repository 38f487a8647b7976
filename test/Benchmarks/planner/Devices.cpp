//===- Devices.cpp - cluster files of the devices that rows name ----------------------------------------===//
#include "Devices.h"
#include "JsonFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::par;
namespace json = llvm::json;

bool RowDevice::fits(llvm::StringRef name) const {
  bool hasWord = llvm::any_of(with, [&](const std::string &word) { return name.contains(word); });
  return name.starts_with(begin) && (with.empty() || hasWord);
}

void RowDevice::apply(DeviceModel &device) const {
  device.memory.scale(memoryShare);
  device.products.share *= productsShare;
  for (AttentionRates &rates : device.attention)
    for (RateCurve *curve : {&rates.forward, &rates.backward})
      curve->scale(productsShare);
}

/// Above 0 and at most 1; 1 where it is absent.
static bool mapShare(json::ObjectMapper &map, llvm::StringLiteral key, double &share, json::Path path) {
  if (!map.mapOptional(key, share))
    return false;
  if (share > 0 && share <= 1)
    return true;
  path.field(key).report("is not above 0 and at most 1");
  return false;
}

namespace mlir::par {
static bool fromJSON(const json::Value &value, RowDevice &device, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("begin", device.begin) && map.mapOptional("with", device.with) &&
         map.map("cluster", device.cluster) && mapShare(map, "memory_share", device.memoryShare, path) &&
         mapShare(map, "products_share", device.productsShare, path) && map.map("source", device.source);
}
} // namespace mlir::par

llvm::Expected<std::vector<RowDevice>> mlir::par::readDevices(llvm::StringRef file) {
  return readJson<std::vector<RowDevice>>(file, "devices");
}

const RowDevice *mlir::par::findDevice(llvm::ArrayRef<RowDevice> devices, llvm::StringRef name) {
  const auto *found = llvm::find_if(devices, [&](const RowDevice &device) { return device.fits(name); });
  return found == devices.end() ? nullptr : found;
}
