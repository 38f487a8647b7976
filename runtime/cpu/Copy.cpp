#include "cpu/Context.h"

#include <cstring>

extern "C" void par_copy(void *context, void *destination, void *source, int64_t bytes) {
  par::cpu::beat(context);
  par::device::Device *device = par::cpu::contextOf(context).device;
  if (device && device->accelerator())
    device->copy(device->compute(), device->fromProgram(destination), device->fromProgram(source),
                 size_t(bytes));
  else
    std::memcpy(destination, source, size_t(bytes));
}

extern "C" void par_discard(void *context, void *memory, int64_t bytes) {
  if (par::device::Device *device = par::cpu::contextOf(context).device)
    device->discard(device->fromProgram(memory), size_t(bytes));
}
