//===- DeviceTimes.h - seconds of what one device computes ------------------------------------*- C++ -*-===//
#ifndef PAR_COST_DEVICETIMES_H
#define PAR_COST_DEVICETIMES_H

#include "par/Cost/Cluster.h"

namespace mlir::par {

/// `batch` products of m×k by k×n.
struct ProductShape {
  FloatKind type = FloatKind::F32; ///< of the factors
  int64_t batch = 1, m = 1, n = 1, k = 1;
};
double getProductSeconds(const ProductShape &shape, const DeviceModel &device);

struct AttentionShape {
  FloatKind type = FloatKind::F32;
  int64_t batch = 1, heads = 1, queryRows = 1, keyRows = 1, headDim = 1;
  bool causal = true;
  bool backward = false;
};
double getAttentionSeconds(const AttentionShape &shape, const DeviceModel &device);

/// A kernel that reads and writes `bytes` once and computes `flops` outside of products.
double getKernelSeconds(double bytes, double flops, const DeviceModel &device);

} // namespace mlir::par

#endif // PAR_COST_DEVICETIMES_H
