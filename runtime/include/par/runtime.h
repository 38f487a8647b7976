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
#define PAR_ABI_VERSION 8

/// par_context, par_product and par_attention: Records.def says what they hold.
#define PAR_RECORD(name) typedef struct name {
#define PAR_MEMBER(letter, type, name) type name;
#define PAR_MEMBERS(letter, type, name, count) type name[count];
#define PAR_RECORD_END(name)                                                                                 \
  }                                                                                                          \
  name;
#include "par/Records.def"

/// What an entry of a schedule does (par_run): call a function, begin or wait for a message, run a
/// collective.
enum par_entry_kind { par_entry_call, par_entry_message_start, par_entry_message_wait, par_entry_collective };

/// The buffers of attention, in the order in which a call lists them: the forward pass up to lse, the
/// backward pass all.
///   documents: null where all rows are of one
///   sinks: null without any; not read by the backward pass, as lse has them in it
///   key i32[2], site i32, row i32 (row in step of batch row 0), offsets i32[5] (global index of element 0 of
///   every dimension of (batch, q_rows, kv_heads, group, k_rows); offsets[0] is added to row): null without
///   dropout
///   dq, dk, dv: null where it is not computed
enum par_attention_buffer {
  par_attention_q,
  par_attention_k,
  par_attention_v,
  par_attention_q_positions,
  par_attention_k_positions,
  par_attention_q_documents,
  par_attention_k_documents,
  par_attention_sinks,
  par_attention_key,
  par_attention_site,
  par_attention_row,
  par_attention_offsets,
  par_attention_out,
  par_attention_lse,
  par_attention_forward_buffers, ///< how many the forward pass has
  par_attention_dout = par_attention_forward_buffers,
  par_attention_dq,
  par_attention_dk,
  par_attention_dv,
  par_attention_backward_buffers ///< how many the backward pass has
};

/// Bytes of f32 copies that bf16 attention makes of one row of the batch: q, out, k, v, and backward their
/// gradients.
static inline int64_t par_attention_bf16_workspace(const par_attention *what, int32_t backward) {
  int64_t rows = what->q_rows * what->group + what->k_rows;
  return 4 * (backward ? 2 : 1) * rows * what->kv_heads * (what->head_dim + what->value_dim);
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
