/* The kernels of TinyCudaProgram.c as par-emulate would make them: one thread does all. */
#include "TinyProgram.h"
#include "par/emulation.h"

#include <math.h>
#include <string.h>

#define KERNEL(name)                                                                                         \
  void par_emulated_##name(void **params, const uint32_t grid[3], const uint32_t block[3],                   \
                           uint32_t shared_bytes, const struct par_emulation *how)
#define UNUSED (void)grid, (void)block, (void)shared_bytes

static uint64_t at(void **params, int i) {
  uint64_t value;
  memcpy(&value, params[i], 8);
  return value;
}

static float load(const struct par_emulation *how, uint64_t address) {
  float value = 0;
  const void *from = how->access(how->state, address, 4, 4, par_emulation_load, "load");
  if (from)
    memcpy(&value, from, 4);
  return value;
}

static int32_t loadInt(const struct par_emulation *how, uint64_t address) {
  float bits = load(how, address);
  int32_t value;
  memcpy(&value, &bits, 4);
  return value;
}

static void store(const struct par_emulation *how, uint64_t address, float value) {
  void *to = how->access(how->state, address, 4, 4, par_emulation_store, "store");
  if (to)
    memcpy(to, &value, 4);
}

/* gradient, pair */
KERNEL(zero) {
  UNUSED;
  for (int i = 0; i < TINY_VOCAB * 3; ++i)
    store(how, at(params, 0) + 4 * (uint64_t)i, 0);
  store(how, at(params, 1), 0);
  store(how, at(params, 1) + 4, 0);
}

/* tokens; scalars from the loss scale on; w; gradient; pair; coordinates */
KERNEL(forward) {
  UNUSED;
  uint64_t scalars = at(params, 1), w = at(params, 2), gradient = at(params, 3), pair = at(params, 4);
  int rows = loadInt(how, scalars + TINY_LOCAL_ROWS - TINY_LOSS_SCALE);
  int localVocab = loadInt(how, scalars + TINY_LOCAL_VOCAB - TINY_LOSS_SCALE);
  int first = loadInt(how, at(params, 5) + 4) * localVocab;
  float scale = load(how, scalars) * load(how, scalars + TINY_FACTOR - TINY_LOSS_SCALE);
  for (int i = 0; i < rows * TINY_SEQ; ++i) {
    int t = loadInt(how, at(params, 0) + 4 * (uint64_t)i) - first;
    if (t < 0 || t >= localVocab)
      continue;
    for (int c = 0; c < 3; ++c) {
      uint64_t element = 4 * (uint64_t)(3 * t + c);
      store(how, pair, load(how, pair) + scale * (float)(c + 1) * load(how, w + element));
      store(how, gradient + element, load(how, gradient + element) + scale * (float)(c + 1));
    }
  }
}

/* local vocabulary, gradient, squared norm */
KERNEL(norm) {
  UNUSED;
  for (int i = 0; i < 3 * loadInt(how, at(params, 0)); ++i) {
    float value = load(how, at(params, 1) + 4 * (uint64_t)i);
    store(how, at(params, 2), load(how, at(params, 2)) + value * value);
  }
}

/* squared norm, norm, the last bytes that are used */
KERNEL(root) {
  UNUSED;
  store(how, at(params, 1), sqrtf(load(how, at(params, 0))));
  store(how, at(params, 2), 1);
}

/* local vocabulary, learning rate, gradient, w */
KERNEL(update) {
  UNUSED;
  for (int i = 0; i < 3 * loadInt(how, at(params, 0)); ++i) {
    uint64_t element = 4 * (uint64_t)i;
    float value =
        load(how, at(params, 3) + element) - load(how, at(params, 1)) * load(how, at(params, 2) + element);
    store(how, at(params, 3) + element, value);
  }
}
