//===- DropoutFactors.h - what dropout makes of probabilities -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_DROPOUTFACTORS_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_DROPOUTFACTORS_H

#include "AttentionCall.h"
#include "BlockCode.h"

namespace mlir::par {

/// Of one head. An element has the number that par.dropout gives it over (batch, q rows, kv heads, group, k
/// rows), so that masks depend on no tile and on no rank.
class DropoutFactors {
public:
  using FindMemory = function_ref<Value(int64_t operand)>;

  /// `head`: of all query heads.
  DropoutFactors(BlockCode &code, const AttentionCall &call, FindMemory findMemory, Value batch, Value head);

  /// 1 / (1 − p) where the element is kept, else 0.
  Value getFactor(Value query, Value key);

private:
  Value readNumber(Value memory, int64_t index) {
    return code.read(code.i32, code.address(memory, code.i32, index));
  }

  BlockCode &code;
  const AttentionCall &call;
  SmallVector<Value, 2> key;
  Value site, row;
  Value first; ///< number of the head's first element
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_DROPOUTFACTORS_H
