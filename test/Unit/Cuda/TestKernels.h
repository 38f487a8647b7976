/// Kernels for tests of streams: their text for the driver, and functions that compute in their place.
#ifndef PAR_TEST_CUDA_TESTKERNELS_H
#define PAR_TEST_CUDA_TESTKERNELS_H

#include "par/emulation.h"

#include <cstring>

namespace par::test {

/// twice(in, out): out[i] = 2 * in[i], one f32 per thread.
constexpr char testModule[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry twice(\n\t.param .u64 .ptr .global .align 4 twice_0, // in\n"
                              "\t.param .u64 twice_1\n)\n.maxntid 64, 1, 1\n{\n\tret;\n}\n";

inline void twice(void **params, const uint32_t grid[3], const uint32_t block[3], uint32_t,
                  const par_emulation *how) {
  uint64_t in, out;
  std::memcpy(&in, params[0], 8);
  std::memcpy(&out, params[1], 8);
  for (uint64_t thread = 0; thread < uint64_t(grid[0]) * block[0]; ++thread) {
    float value = 0;
    if (void *from = how->access(how->state, in + 4 * thread, 4, 4, par_emulation_load, "load"))
      std::memcpy(&value, from, 4);
    value *= 2;
    if (void *to = how->access(how->state, out + 4 * thread, 4, 4, par_emulation_store, "store"))
      std::memcpy(to, &value, 4);
  }
}

} // namespace par::test
#endif
