//===- AttentionKernel.cpp - published speeds of an attention kernel ------------------------------------===//
#include "AttentionKernel.h"
#include "JsonFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::par;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// [[rows, teraflops], ..], rows rising.
static bool readCurve(const std::vector<std::vector<double>> &points, RateCurve &curve, json::Path path) {
  for (const std::vector<double> &point : points) {
    if (point.size() != 2 || point[0] <= 0 || point[1] <= 0) {
      path.report("a point is not [rows, teraflops], both above 0");
      return false;
    }
    if (!curve.points.empty() && point[0] <= curve.points.back().first) {
      path.report("rows do not rise");
      return false;
    }
    curve.points.emplace_back(point[0], 1e12 * point[1]);
  }
  if (points.empty())
    path.report("there are no points");
  return !points.empty();
}

static bool isAboveZero(double number, json::Path path) {
  if (number > 0)
    return true;
  path.report("is not above 0");
  return false;
}

namespace mlir::par {
static bool fromJSON(const json::Value &value, AttentionKernel::Speed &speed, json::Path path) {
  json::ObjectMapper map(value, path);
  std::vector<std::vector<double>> points;
  return map && map.map("chip", speed.chip) && map.map("head_dim", speed.headDim) &&
         isAboveZero(double(speed.headDim), path.field("head_dim")) && map.map("source", speed.source) &&
         map.map("tflops", points) && readCurve(points, speed.rate, path.field("tflops"));
}
static bool fromJSON(const json::Value &value, AttentionKernel &kernel, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", kernel.name) && map.map("forward_ratio", kernel.forwardRatio) &&
         isAboveZero(kernel.forwardRatio, path.field("forward_ratio")) &&
         map.map("forward_ratio_source", kernel.forwardRatioSource) && map.map("speeds", kernel.speeds);
}
} // namespace mlir::par

llvm::Expected<AttentionKernel> mlir::par::readAttentionKernel(llvm::StringRef file) {
  return readJson<AttentionKernel>(file, "kernel");
}

//===----------------------------------------------------------------------===//
// Rates
//===----------------------------------------------------------------------===//

/// Forward has two products and backward five: 7 / rate = 2 / forward + 5 / backward.
static AttentionRates divide(const AttentionKernel::Speed &speed, double forwardRatio, double peak) {
  double backwardShare = (2 / forwardRatio + 5) / 7 / peak;
  AttentionRates rates;
  rates.headDim = speed.headDim;
  for (auto [rows, rate] : speed.rate.points) {
    rates.forward.points.emplace_back(rows, forwardRatio * backwardShare * rate);
    rates.backward.points.emplace_back(rows, backwardShare * rate);
  }
  return rates;
}

llvm::Expected<std::vector<AttentionRates>> AttentionKernel::getRates(llvm::StringRef chip,
                                                                      double peak) const {
  std::vector<AttentionRates> rates;
  for (const Speed &speed : speeds)
    if (speed.chip == chip)
      rates.push_back(divide(speed, forwardRatio, peak));
  if (rates.empty())
    return makeError(name + " was not measured on " + chip);
  llvm::sort(rates, [](const AttentionRates &a, const AttentionRates &b) { return a.headDim < b.headDim; });
  return rates;
}
