//===- DeviceTimes.h - seconds of what one device computes ------------------------------------*- C++ -*-===//
#ifndef PAR_COST_DEVICETIMES_H
#define PAR_COST_DEVICETIMES_H

#include "par/Cost/Cluster.h"

namespace mlir::par {

// No op takes less than reading what it reads and writing what it writes, once (Williams, Waterman,
// Patterson, "Roofline", CACM 52, 2009). Gaps between kernels are the caller's.

/// `batch` products of m×k by k×n.
struct ProductShape {
  FloatKind type = FloatKind::F32; ///< of the factors
  int64_t batch = 1, m = 1, n = 1, k = 1;
};
/// Tiles are computed wave by wave, one per unit: ⌈tiles/units⌉ · 2 · rows · columns · (k + depth) / (peak ·
/// share / units), of the tilings that libraries choose among the quickest (NVIDIA, "Matrix multiplication
/// background user's guide", tile and wave quantization).
double getProductSeconds(const ProductShape &shape, const DeviceModel &device);

struct AttentionShape {
  FloatKind type = FloatKind::F32;
  int64_t batch = 1, heads = 1, queryRows = 1, keyRows = 1, headDim = 1;
  int64_t valueDim = 0; ///< 0: headDim
  int64_t widthOfValues() const { return valueDim ? valueDim : headDim; }
  bool causal = true;
  bool backward = false;
};
/// Operations that are computed: two products of queries by keys forward, five back (Dao et al., 2205.14135,
/// algorithms 1 and 4), of which one and two are of the size of values; of causal attention the half that is
/// seen.
double countFlops(const AttentionShape &shape);
/// 2 products of queries by keys forward, 5 back (Dao et al., 2205.14135), of which causal attention computes
/// half, at the share of the peak that is measured for so many rows.
double getAttentionSeconds(const AttentionShape &shape, const DeviceModel &device);

/// The time of a library's attention, as a value (`Computation::library`): a machine that knows another
/// kernel asks for its shape.
struct AttentionTime {
  AttentionShape shape;
  double operator()(const DeviceModel &device) const { return getAttentionSeconds(shape, device); }
};

/// A kernel that reads and writes `bytes` once and computes `flops` outside of products.
double getKernelSeconds(double bytes, double flops, const DeviceModel &device);

} // namespace mlir::par

#endif // PAR_COST_DEVICETIMES_H
