/// Element-wise reduction in member order: the same sum, to the bit, on every transport.
#ifndef PAR_COMM_REDUCE_H
#define PAR_COMM_REDUCE_H

#include "comm/Collective.h"

namespace par::comm {

/// Combines up to `chunk` elements of the members, one member after the other. bf16 is summed in f32 and
/// rounded once, at the end. A result leaves only through `finish`, so it may overwrite a source that was
/// added before.
class Accumulator {
public:
  static constexpr int64_t chunk = 4096;

  Accumulator(Op op, Type type) : op(op), type(type) {}
  /// Takes the first member's elements.
  void start(const void *source, int64_t count);
  /// Combines the next member's elements.
  void add(const void *source, int64_t count);
  /// The result in the type's own format; valid until the next `start`.
  const void *finish(int64_t count);

private:
  const Op op;
  const Type type;
  alignas(64) char values[chunk * 8];
};

/// Nearest bf16, ties to even; a NaN stays one.
uint16_t roundToBf16(float value);
float widenBf16(uint16_t value);

} // namespace par::comm
#endif
