//===- Devices.cpp - cluster files of the devices that rows name ----------------------------------------===//
#include "Devices.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::par;
namespace json = llvm::json;

bool RowDevice::fits(llvm::StringRef name) const {
  bool hasWord = llvm::any_of(with, [&](const std::string &word) { return name.contains(word); });
  return name.starts_with(begin) && (with.empty() || hasWord);
}

void RowDevice::apply(DeviceModel &device) const {
  for (auto &[bytes, rate] : device.memory.points)
    rate *= memoryShare;
  device.products.share *= productsShare;
  for (AttentionRates &rates : device.attention)
    for (RateCurve *curve : {&rates.forward, &rates.backward})
      for (auto &[rows, share] : curve->points)
        share *= productsShare;
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
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return makeError(file + ": " + buffer.getError().message());
  auto devices = json::parse<std::vector<RowDevice>>((*buffer)->getBuffer(), "devices");
  if (!devices)
    return makeError(file + ": " + llvm::toString(devices.takeError()));
  return devices;
}

const RowDevice *mlir::par::findDevice(llvm::ArrayRef<RowDevice> devices, llvm::StringRef name) {
  const auto *found = llvm::find_if(devices, [&](const RowDevice &device) { return device.fits(name); });
  return found == devices.end() ? nullptr : found;
}
