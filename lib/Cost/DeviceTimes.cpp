//===- DeviceTimes.cpp - seconds of what one device computes --------------------------------------------===//
#include "par/Cost/DeviceTimes.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::par;

static double divideUp(double number, double by) { return std::ceil(number / by); }
static double getElementBytes(FloatKind type) { return type == FloatKind::BF16 ? 2 : 4; }
static double getPeak(FloatKind type, const ProductRates &rates) {
  return type == FloatKind::BF16 && rates.peakBF16 > 0 ? rates.peakBF16 : rates.peakF32;
}
static double getMemorySeconds(double bytes, const DeviceModel &device) {
  return bytes > 0 ? bytes / device.memory.at(bytes) : 0;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// One way to divide a product among the units.
struct Tiling {
  double rows, columns; ///< of a tile
  double share;         ///< of the full tile's rate: smaller ones read more for each operation
  double parts;         ///< in which the sum over k is computed, and added up behind
};

static double getTiledSeconds(const ProductShape &shape, const Tiling &tiling, const DeviceModel &device) {
  const ProductRates &rates = device.products;
  auto units = static_cast<double>(rates.units);
  double tiles = divideUp(double(shape.m), tiling.rows) * divideUp(double(shape.n), tiling.columns) *
                 double(shape.batch) * tiling.parts;
  double terms = divideUp(double(shape.k), tiling.parts) + double(rates.depth);
  double rate = getPeak(shape.type, rates) * rates.share * tiling.share / units;
  double seconds = divideUp(tiles, units) * 2 * tiling.rows * tiling.columns * terms / rate;
  if (tiling.parts > 1) // partial results are written and read, in f32
    seconds +=
        getMemorySeconds(8 * tiling.parts * double(shape.batch) * double(shape.m) * double(shape.n), device);
  return seconds;
}

/// Of the rate, by what all of m, n and k are multiples of.
static double getAlignedShare(const ProductShape &shape, const ProductRates &rates) {
  auto isMultipleOf = [&](int64_t elements) {
    return shape.m % elements == 0 && shape.n % elements == 0 && shape.k % elements == 0;
  };
  if (!isMultipleOf(rates.alignment))
    return rates.unalignedShare;
  return isMultipleOf(rates.fullAlignment) ? 1 : rates.alignedShare;
}

double mlir::par::getProductSeconds(const ProductShape &shape, const DeviceModel &device) {
  const ProductRates &rates = device.products;
  auto rows = static_cast<double>(rates.tileRows), columns = static_cast<double>(rates.tileColumns);
  double seconds = std::numeric_limits<double>::infinity();
  // Libraries choose among tiles, and among parts of long sums where there are few tiles.
  for (double parts : {1., 2., 4., 8., 16.})
    for (const Tiling &tiling :
         {Tiling{rows, columns, 1, parts}, Tiling{rows, std::max(1., columns / 2), 0.95, parts},
          Tiling{std::max(1., rows / 2), std::max(1., columns / 2), 0.85, parts}})
      seconds = std::min(seconds, getTiledSeconds(shape, tiling, device));
  seconds /= getAlignedShare(shape, rates);
  double elements = double(shape.m) * double(shape.k) + double(shape.k) * double(shape.n) +
                    double(shape.m) * double(shape.n);
  double bytes = double(shape.batch) * elements * getElementBytes(shape.type);
  // What has few rows and columns, dot products above all, is quicker without tiles.
  double flops = 2 * double(shape.batch) * double(shape.m) * double(shape.n) * double(shape.k);
  return std::max(std::min(seconds, flops / device.kernelFlops), getMemorySeconds(bytes, device));
}

//===----------------------------------------------------------------------===//
// Attention and other kernels
//===----------------------------------------------------------------------===//

static const AttentionRates *findRates(int64_t headDim, const DeviceModel &device) {
  const AttentionRates *nearest = nullptr;
  for (const AttentionRates &rates : device.attention)
    if (!nearest || std::abs(rates.headDim - headDim) < std::abs(nearest->headDim - headDim))
      nearest = &rates;
  return nearest;
}

double mlir::par::countFlops(const AttentionShape &shape) {
  double ofKeys = shape.backward ? 3 : 1, ofValues = shape.backward ? 2 : 1;
  double width = ofKeys * double(shape.headDim) + ofValues * double(shape.widthOfValues());
  double seen = shape.causal ? 0.5 : 1;
  double heads = double(shape.batch) * double(shape.heads);
  return 2 * seen * heads * double(shape.queryRows) * double(shape.keyRows) * width;
}

double mlir::par::getAttentionSeconds(const AttentionShape &shape, const DeviceModel &device) {
  double flops = countFlops(shape), heads = double(shape.batch) * double(shape.heads);
  const AttentionRates *rates = findRates(shape.headDim, device);
  double share = device.products.share;
  if (rates)
    share = (shape.backward ? rates->backward : rates->forward).at(static_cast<double>(shape.keyRows));
  // Tiles of 128 rows; of a few heads they do not fill the units.
  double tiles = heads * divideUp(double(shape.queryRows), 128);
  auto units = static_cast<double>(device.products.units);
  double filled = tiles / (divideUp(tiles, units) * units);
  double seconds = flops / (getPeak(shape.type, device.products) * share * (tiles < units ? filled : 1));
  double tensors = shape.backward ? 4 : 2; // q and k, v and out; back also their gradients
  double bytes = tensors * heads * double(std::max(shape.queryRows, shape.keyRows)) *
                 double(shape.headDim + shape.widthOfValues()) * getElementBytes(shape.type);
  return std::max(seconds, getMemorySeconds(bytes, device));
}

double mlir::par::getKernelSeconds(double bytes, double flops, const DeviceModel &device) {
  double computing = device.kernelFlops > 0 ? flops / device.kernelFlops : 0;
  return std::max(computing, getMemorySeconds(bytes, device));
}
