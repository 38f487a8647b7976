#include "cpu/Context.h"

#include <cstring>

extern "C" void par_copy(void *context, void *destination, void *source, int64_t bytes) {
  par::cpu::beat(context);
  std::memcpy(destination, source, size_t(bytes));
}

extern "C" void par_discard(void *context, void *memory, int64_t bytes) {
  if (!static_cast<par::cpu::CpuContext *>(static_cast<par_context *>(context))->poison)
    return;
  // NaN in f32 and bf16, and no byte of the paint by which the peak is measured.
  const uint32_t pattern = 0x7FC07FC0;
  char *begin = static_cast<char *>(memory);
  for (int64_t at = 0; at < bytes; at += 4)
    std::memcpy(begin + at, &pattern, size_t(bytes - at < 4 ? bytes - at : 4));
}
