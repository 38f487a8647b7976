/// Memory that cuDNN's attention needs beside operands and results. Compiler and tests know it from here; the
/// library is asked at the start, and not used where it needs more.
#ifndef PAR_CUDNNWORKSPACE_H
#define PAR_CUDNNWORKSPACE_H

#include <cstdint>

/// As many keys as queries; `heads` of queries, in groups of `group` for each kv head.
struct par_cudnn_attention {
  bool isBackward;
  int64_t batch, rows, heads, group, headDim;
  bool isOlder; ///< an A100's engines (sm_80), else an H100's (sm_90)
};

/// Where parts of a workspace lie: at multiples of so many bytes.
constexpr int64_t par_cudnn_alignment = 256;

constexpr int64_t par_cudnn_align(int64_t bytes, int64_t to = par_cudnn_alignment) {
  return (bytes + to - 1) / to * to;
}

/// Bytes that tensors of par's graph have: a gradient of the queries in f32, and a sum for each of their
/// rows.
constexpr int64_t par_cudnn_shared_bytes(const par_cudnn_attention &what) {
  int64_t rows = what.batch * what.heads * what.rows;
  return what.isBackward ? par_cudnn_align(4 * rows) + par_cudnn_align(4 * rows * what.headDim) : 0;
}

/// Bytes that its engines add, as cuDNN 9.19 says. With groups they keep the gradients of keys and values of
/// each query head, in bf16; on an A100 the gradient of the queries once more, up to a multiple of 8 rows.
constexpr int64_t par_cudnn_engine_bytes(const par_cudnn_attention &what) {
  int64_t perRow = what.batch * what.heads * what.headDim;
  int64_t ofGroups = what.isBackward && what.group > 1 ? 2 * 2 * perRow * what.rows : 0;
  if (!what.isOlder)
    return 256 + ofGroups;
  return what.isBackward ? 128 + 4 * perRow * par_cudnn_align(what.rows, 8) + ofGroups : 0;
}

constexpr int64_t par_cudnn_workspace(const par_cudnn_attention &what) {
  return par_cudnn_shared_bytes(what) + par_cudnn_engine_bytes(what);
}
#endif
