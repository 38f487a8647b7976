/// The C ABI between compiled rank programs and the runtime. docs/Package.md describes the files around it.
///
/// A program is a shared library with one function `void par_schedule_<name>(par_context *)` per schedule of
/// the manifest (today: `train`). It calls back into the entry points of EntryPoints.def. It owns no memory:
/// every buffer is an offset into the arena, fixed at compile time.
#ifndef PAR_RUNTIME_H
#define PAR_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Raised whenever a layout below, an entry point or the manifest changes incompatibly.
#define PAR_ABI_VERSION 5

/// What generated code reads directly. The runtime's own state follows this prefix.
typedef struct par_context {
  char *arena;           ///< device arena of this rank
  const int32_t *coords; ///< coordinate of this rank on every entry of the manifest's `axes`, in that order
  char *host_arena;      ///< host memory of this rank: variables of the memory space `host`; null without any
} par_context;

/// Row-major f32 C[m, n] = op(A) * op(B) + beta * D, as par_gemm computes it; ld = elements between rows.
typedef struct par_product {
  int32_t transpose_a, transpose_b;
  int64_t m, n, k;
  const float *a;
  int64_t lda;
  const float *b;
  int64_t ldb;
  float beta;
  const float *addend; ///< D, laid out as C, maybe C itself; not read with beta 0
  float *c;
  int64_t ldc;
} par_product;

/// Blocked attention with grouped heads, causal by position. Shapes, row-major and contiguous, all f32 but
/// positions:
///   q, out, dq, dout [batch, q_rows, kv_heads, group, head_dim]   k, v, dk, dv [batch, k_rows, kv_heads,
///   head_dim] lse [batch, kv_heads, group, q_rows] natural logarithm of the softmax denominators (after
///   scaling) q_positions i32 [q_rows], k_positions i32 [k_rows]
/// Query i sees key j when (not causal or k_positions[j] <= q_positions[i]) and
/// (window == 0 or q_positions[i] - k_positions[j] < window). A query that sees no key yields 0 and lse -inf.
/// Dropout on the probabilities when dropout > 0: element e is kept when philox(...) word 0 >= dropout * 2^32
/// and then scaled by 1/(1-dropout); see docs/Package.md ("Random numbers").
typedef struct par_attention {
  int64_t batch, q_rows, k_rows, kv_heads, group, head_dim;
  float scale;
  int32_t causal;
  int64_t window;
  float dropout;
  int64_t strides[5]; ///< of the dropout element number over (batch unused, q_rows, kv_heads, group, k_rows)
  /// Elements between rows (of one sequence, and from its last to the next sequence's first); out and dout
  /// are contiguous.
  int64_t q_stride, k_stride, v_stride, dq_stride, dk_stride, dv_stride;
} par_attention;
/// forward buffers:  q k v q_positions k_positions key site row offsets | out lse
/// backward buffers: q k v q_positions k_positions key site row offsets out lse dout | dq dk dv
/// key i32[2], site i32, row i32 (row in step of batch row 0), offsets i32[5] (global index of element 0 of
/// every dimension of (batch, q_rows, kv_heads, group, k_rows); offsets[0] is added to row). They are null
/// without dropout. A null dq, dk or dv is not computed.

/// Bytes of f32 copies that bf16 attention makes of one row of the batch: q, out, k, v, and backward their
/// gradients.
static inline int64_t par_attention_bf16_workspace(const par_attention *what, int32_t backward) {
  int64_t heads = what->kv_heads * what->head_dim;
  return 4 * (backward ? 4 : 2) * (what->q_rows * what->group + what->k_rows) * heads;
}

/// Bytes of f32 sums with which par_gemm_bf16 computes a bf16 C as a whole, all of its batch; from 8 MiB on
/// it goes block by block. None for an f32 C.
static inline int64_t par_gemm_bf16_workspace(int64_t m, int64_t n, int64_t batch) {
  int64_t most = (int64_t)8 << 20;
  double bytes = 4.0 * (double)m * (double)n * (double)batch;
  return bytes < (double)most ? (int64_t)bytes : most;
}

#define P void *
#define V void
#define I int32_t
#define L int64_t
#define F float
#define PAR_ENTRY(name, result, ...) result name(__VA_ARGS__);
#include "par/EntryPoints.def"
#undef P
#undef V
#undef I
#undef L
#undef F

#ifdef __cplusplus
}
#endif
#endif
