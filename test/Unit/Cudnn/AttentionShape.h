/// Attention as a program's list has it, for tests.
#ifndef PAR_TEST_ATTENTIONSHAPE_H
#define PAR_TEST_ATTENTIONSHAPE_H

#include "cuda/CudaWork.h"
#include "par/CudnnWorkspace.h"

namespace par::test {

struct AttentionShape {
  int64_t batch, rows, heads, kvHeads, headDim;
  bool causal = true;
  int64_t window = 0;
  bool isJoint = false; ///< queries, keys and values are parts of one row
};

/// Buffers of every call, by number. A joint projection has its three parts in `q` and `dq`.
enum AttentionBuffer { q, k, v, out, lse, dout, dq, dk, dv, workspace, bufferCount };

inline par_cudnn_attention formulaOf(const AttentionShape &shape, bool isBackward, bool isOlder = false) {
  return {isBackward,    shape.batch, shape.rows, shape.heads, shape.heads / shape.kvHeads,
          shape.headDim, isOlder};
}

inline cuda::AttentionWork workOf(const AttentionShape &shape, bool isBackward) {
  using Rows = cuda::AttentionRows;
  cuda::AttentionWork work{};
  work.isBackward = isBackward;
  work.batch = shape.batch, work.qRows = work.kRows = shape.rows;
  work.kvHeads = shape.kvHeads, work.group = shape.heads / shape.kvHeads, work.headDim = shape.headDim;
  work.scale = 0.25f, work.causal = shape.causal, work.window = shape.window;
  int64_t wide = shape.heads * shape.headDim, narrow = shape.kvHeads * shape.headDim;
  int64_t joint = wide + 2 * narrow;
  work.q = shape.isJoint ? Rows{q, 0, joint} : Rows{q, 0, wide};
  work.k = shape.isJoint ? Rows{q, wide, joint} : Rows{k, 0, narrow};
  work.v = shape.isJoint ? Rows{q, wide + narrow, joint} : Rows{v, 0, narrow};
  work.out = {out, 0, wide}, work.lse = lse, work.dout = {dout, 0, wide};
  work.dq = work.q, work.dk = work.k, work.dv = work.v;
  for (Rows *rows : {&work.dq, &work.dk, &work.dv})
    rows->buffer += dq - q;
  work.workspace = workspace, work.bufferCount = bufferCount;
  work.workspaceBytes = par_cudnn_workspace(formulaOf(shape, isBackward));
  return work;
}

} // namespace par::test
#endif
