/* The model of TinyProgram.c for GPUs, by hand: the host's program computes addresses and calls kernels by
 * number. */
#include "TinyCuda.h"
#include "TinyProgram.h"
#include "par/runtime.h"

/* In place of it stands the hash of the manifest that a package is written with. */
const char par_manifest[] = TINY_MANIFEST_HASH;

static void launch(par_context *context, int kernel, const long *offsets, int count) {
  void *buffers[8];
  for (int i = 0; i < count; ++i)
    buffers[i] = context->arena + offsets[i];
  par_launch(context, kernel, buffers);
}

static void collective(par_context *context, int number, int from, int to) {
  void *buffers[2] = {context->arena + from, context->arena + to};
  par_collective(context, number, buffers);
}

static void forward(par_context *context, int microBatch) {
  long offsets[] = {TINY_TOKENS + 128 * microBatch, TINY_LOSS_SCALE, TINY_W, TINY_GRADIENT, TINY_PAIR};
  par_action(context, microBatch);
  launch(context, TINY_CUDA_FORWARD, offsets, 5);
}

static void reduceBeside(par_context *context) {
  void *gradient[2] = {context->arena + TINY_GRADIENT, context->arena + TINY_GRADIENT};
  void *loss[2] = {context->arena + TINY_PAIR, context->arena + TINY_LOSS};
  long norm[] = {TINY_LOCAL_VOCAB, TINY_GRADIENT, TINY_PAIR + 4};
  par_collective_start(context, TINY_REDUCE_GRADIENT, gradient);
  par_collective_start(context, TINY_REDUCE_LOSS, loss);
  par_collective_wait(context, TINY_REDUCE_GRADIENT);
  launch(context, TINY_CUDA_NORM, norm, 3);
  collective(context, TINY_REDUCE_NORM, TINY_PAIR + 4, TINY_PAIR + 4);
  par_collective_wait(context, TINY_REDUCE_LOSS);
}

static void reduce(par_context *context) {
  long norm[] = {TINY_LOCAL_VOCAB, TINY_GRADIENT, TINY_PAIR + 4};
  collective(context, TINY_REDUCE_GRADIENT, TINY_GRADIENT, TINY_GRADIENT);
  launch(context, TINY_CUDA_NORM, norm, 3);
  collective(context, TINY_REDUCE_LOSS, TINY_PAIR, TINY_PAIR);
  collective(context, TINY_REDUCE_NORM, TINY_PAIR + 4, TINY_PAIR + 4);
  par_copy(context, context->arena + TINY_LOSS, context->arena + TINY_PAIR, 4);
}

static void step(par_context *context, void (*reduceAll)(par_context *)) {
  long zero[] = {TINY_GRADIENT, TINY_PAIR}, root[] = {TINY_PAIR + 4, TINY_NORM, TINY_PEAK - 4};
  long update[] = {TINY_LOCAL_VOCAB, TINY_LR, TINY_GRADIENT, TINY_W};
  launch(context, TINY_CUDA_ZERO, zero, 2);
  for (int m = 0; m < TINY_MICRO_BATCHES; ++m)
    forward(context, m);
  par_action(context, 2);
  reduceAll(context);
  launch(context, TINY_CUDA_ROOT, root, 3);
  par_action(context, 3);
  launch(context, TINY_CUDA_UPDATE, update, 4);
}

void par_schedule_train(par_context *context) { step(context, reduce); }

/* Collectives run beside what is computed. */
void par_schedule_overlapped(par_context *context) { step(context, reduceBeside); }

/* Reads the reduced gradient before it has come: a wait is left out. */
static void reduceTooEarly(par_context *context) {
  void *gradient[2] = {context->arena + TINY_GRADIENT, context->arena + TINY_GRADIENT};
  void *loss[2] = {context->arena + TINY_PAIR, context->arena + TINY_LOSS};
  long norm[] = {TINY_LOCAL_VOCAB, TINY_GRADIENT, TINY_PAIR + 4};
  par_collective_start(context, TINY_REDUCE_GRADIENT, gradient);
  par_collective_start(context, TINY_REDUCE_LOSS, loss);
  launch(context, TINY_CUDA_NORM, norm, 3);
  par_collective_wait(context, TINY_REDUCE_GRADIENT);
  par_collective_wait(context, TINY_REDUCE_LOSS);
}
void par_schedule_early(par_context *context) { step(context, reduceTooEarly); }

/* A kernel gets an address of the host. */
void par_schedule_host_address(par_context *context) {
  static float local[64];
  void *buffers[] = {local, context->arena + TINY_PAIR};
  par_launch(context, TINY_CUDA_ZERO, buffers);
  par_schedule_train(context);
}

/* Calls what the manifest does not have. */
void par_schedule_unknown(par_context *context) {
  void *buffers[1] = {context->arena};
  par_launch(context, 17, buffers);
}
