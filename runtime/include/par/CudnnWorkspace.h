/// Memory that cuDNN's attention needs beside operands and results. Compiler and tests know it from here; the
/// library is asked at the start, and not used where it needs more.
#ifndef PAR_CUDNNWORKSPACE_H
#define PAR_CUDNNWORKSPACE_H

#include <cstdint>

namespace par {

/// As many keys as queries; `heads` of queries, in groups of `group` for each kv head.
struct CudnnAttention {
  bool isBackward;
  int64_t batch, rows, heads, group, headDim;
  bool isOlder; ///< an A100's engines (sm_80), else an H100's (sm_90)
};

/// Where parts of a workspace lie: at multiples of so many bytes.
constexpr int64_t cudnnAlignment = 256;

constexpr int64_t alignForCudnn(int64_t bytes, int64_t to = cudnnAlignment) {
  return (bytes + to - 1) / to * to;
}

/// Bytes that tensors of par's graph have: a gradient of the queries in f32, and a sum for each of their rows.
constexpr int64_t cudnnSharedBytes(const CudnnAttention &what) {
  int64_t rows = what.batch * what.heads * what.rows;
  return what.isBackward ? alignForCudnn(4 * rows) + alignForCudnn(4 * rows * what.headDim) : 0;
}

/// Bytes that its engines add, as cuDNN 9.19 says. With groups they keep the gradients of keys and values of
/// each query head, in bf16; on an A100 the gradient of the queries once more, up to a multiple of 8 rows.
constexpr int64_t cudnnEngineBytes(const CudnnAttention &what) {
  int64_t perRow = what.batch * what.heads * what.headDim;
  int64_t ofGroups = what.isBackward && what.group > 1 ? 2 * 2 * perRow * what.rows : 0;
  if (!what.isOlder)
    return 256 + ofGroups;
  return what.isBackward ? 128 + 4 * perRow * alignForCudnn(what.rows, 8) + ofGroups : 0;
}

constexpr int64_t cudnnWorkspaceBytes(const CudnnAttention &what) {
  return cudnnSharedBytes(what) + cudnnEngineBytes(what);
}

} // namespace par
#endif
