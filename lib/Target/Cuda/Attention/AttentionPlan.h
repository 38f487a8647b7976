//===- AttentionPlan.h - tiles of the kernels of an attention -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONPLAN_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONPLAN_H

#include "../IterationSpace.h"
#include "AttentionCall.h"

namespace mlir::par {

/// The passes of attention, each a kernel.
enum class AttentionPass {
  Forward, ///< a block has queries and walks the keys
  Queries, ///< their gradients: the same
  Keys,    ///< gradients of keys and values: a block has keys and walks the queries
};
/// Of its launch.
StringRef getName(AttentionPass pass);

/// Columns of a head, up to a multiple of 16: those that lie in shared memory, and those that a block adds
/// up.
struct HeadColumns {
  int64_t all = 0, sums = 0;
};

/// A block has `rows` of one head, 16 of them per band of a warp, and walks the others in tiles of `others`.
struct AttentionPlan {
  AttentionPass pass;
  int64_t warps = 1, bands = 1; ///< bands of a warp
  int64_t others = 0;
  int64_t parts = 1;        ///< blocks that share what is added up; each has all scores
  bool isApart = false;     ///< one part has keys' gradients, the other one values'; else each has columns
  HeadColumns keys, values; ///< of queries, keys and their gradients; of values, outputs and theirs
  int64_t sharedBytes = 0;
  int64_t registers = 0; ///< of a thread (Launch::registers)

  int64_t countRows() const { return 16 * bands * warps; }
  int64_t countThreads() const { return kWarp * warps; }
};

/// None: a head is too large for the shared memory of a block.
std::optional<AttentionPlan> planAttention(const AttentionCall &call, AttentionPass pass);

/// Where a block's shared memory has what, in bytes from its beginning.
struct SharedPlaces {
  int64_t own[2], other[2], numbers[3], staging;
  int64_t documents, found; ///< where there are documents: those of the others, and what warps find
  int64_t end;
};
SharedPlaces placeShared(const AttentionPlan &plan, const AttentionCall &call);

/// What the rows of a backward pass leave for each other: a number of f32 for each row of `out`.
int64_t getAttentionScratchBytes(rank::AttentionAttr attention);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONPLAN_H
