#include "cpu/Context.h"

#include <cstring>

extern "C" void par_copy(void *context, void *destination, void *source, int64_t bytes) {
  par::cpu::beat(context);
  std::memcpy(destination, source, size_t(bytes));
}
