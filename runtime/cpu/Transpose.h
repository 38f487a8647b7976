/// A square of vectors, as many as each has lanes, transposed in registers.
#ifndef PAR_CPU_TRANSPOSE_H
#define PAR_CPU_TRANSPOSE_H

#include "cpu/Lanes.h"

namespace par::cpu {

/// The rows of a square of vectors, two by two interleaved: log2 of their width such steps transpose it.
PAR_INLINE void interleave(Lanes<16>::Floats &a, Lanes<16>::Floats &b) {
  auto low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  b = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  a = low;
}
PAR_INLINE void interleave(Lanes<32>::Floats &a, Lanes<32>::Floats &b) {
  auto low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  b = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  a = low;
}
PAR_INLINE void interleave(Lanes<64>::Floats &a, Lanes<64>::Floats &b) {
  auto low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  b = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  a = low;
}

template <typename L>
PAR_INLINE void transposeVectors(typename L::Floats (&rows)[L::width]) {
  constexpr int side = L::width;
  typename L::Floats mixed[side];
#pragma clang loop unroll(full)
  for (int step = 1; step < side; step *= 2) {
#pragma clang loop unroll(full)
    for (int i = 0; i < side / 2; ++i) {
      mixed[2 * i] = rows[i], mixed[2 * i + 1] = rows[i + side / 2];
      interleave(mixed[2 * i], mixed[2 * i + 1]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < side; ++i)
      rows[i] = mixed[i];
  }
}

} // namespace par::cpu
#endif
