#include "TinyProgram.h"
#include "par/runtime.h"

#include <math.h>
#include <stddef.h>

/// In place of it stands the hash of the manifest that a package is written with.
const char par_manifest[] = TINY_MANIFEST_HASH;

#define F32(offset) ((float *)(context->arena + (offset)))
#define I32(offset) ((int32_t *)(context->arena + (offset)))

/// Coordinates are (dp, tp): this rank has rows of its dp block and vocabulary entries of its tp block.
static void forward(par_context *context, int microBatch) {
  int localVocab = *I32(TINY_LOCAL_VOCAB), first = context->coords[1] * localVocab;
  const int32_t *tokens = I32(TINY_TOKENS + 128 * microBatch);
  float scale = *F32(TINY_LOSS_SCALE) * *F32(TINY_FACTOR);
  for (int i = 0; i < *I32(TINY_LOCAL_ROWS) * TINY_SEQ; ++i) {
    int t = tokens[i] - first;
    if (t < 0 || t >= localVocab)
      continue;
    for (int c = 0; c < 3; ++c) {
      F32(TINY_PAIR)[0] += scale * (float)(c + 1) * F32(TINY_W)[3 * t + c];
      F32(TINY_GRADIENT)[3 * t + c] += scale * (float)(c + 1);
    }
  }
}

static void update(par_context *context) {
  for (int i = 0; i < *I32(TINY_LOCAL_VOCAB) * 3; ++i)
    F32(TINY_W)[i] -= *F32(TINY_LR) * F32(TINY_GRADIENT)[i];
}

static void collective(par_context *context, int number, int offset) {
  void *buffers[2] = {context->arena + offset, context->arena + offset};
  par_collective(context, number, buffers);
}

static void addNorm(par_context *context, int count) {
  for (int i = 0; i < count; ++i)
    F32(TINY_PAIR)[1] += F32(TINY_GRADIENT)[i] * F32(TINY_GRADIENT)[i];
}

/// The loss is summed up while the norm is computed, and behind the gradient: there is one queue.
static void reduceBeside(par_context *context, int count) {
  void *gradient[2] = {context->arena + TINY_GRADIENT, context->arena + TINY_GRADIENT};
  void *loss[2] = {context->arena + TINY_PAIR, context->arena + TINY_LOSS};
  par_collective_start(context, TINY_REDUCE_GRADIENT, gradient);
  par_collective_start(context, TINY_REDUCE_LOSS, loss);
  par_collective_wait(context, TINY_REDUCE_GRADIENT);
  addNorm(context, count);
  collective(context, TINY_REDUCE_NORM, TINY_PAIR + 4);
  par_collective_wait(context, TINY_REDUCE_LOSS);
}

static void reduce(par_context *context, int count) {
  collective(context, TINY_REDUCE_GRADIENT, TINY_GRADIENT);
  addNorm(context, count);
  collective(context, TINY_REDUCE_LOSS, TINY_PAIR);
  collective(context, TINY_REDUCE_NORM, TINY_PAIR + 4);
  *F32(TINY_LOSS) = F32(TINY_PAIR)[0];
}

void par_schedule_train(par_context *context) {
  int count = *I32(TINY_LOCAL_VOCAB) * 3;
  for (int i = 0; i < count; ++i)
    F32(TINY_GRADIENT)[i] = 0;
  F32(TINY_PAIR)[0] = F32(TINY_PAIR)[1] = 0;
  for (int m = 0; m < TINY_MICRO_BATCHES; ++m) {
    par_action(context, m);
    forward(context, m);
  }
  par_action(context, 2);
  if (*I32(TINY_STARTED))
    reduceBeside(context, count);
  else
    reduce(context, count);
  *F32(TINY_NORM) = sqrtf(F32(TINY_PAIR)[1]);
  *I32(TINY_PEAK - 4) = -1; // as the target of a token that does not count
  par_action(context, 3);
  update(context);
}

/// The sum over the tokens of a micro-batch, wherever its rows and entries are.
void par_schedule_eval(par_context *context) {
  int localVocab = *I32(TINY_LOCAL_VOCAB), first = context->coords[1] * localVocab;
  for (int m = 0; m < TINY_MICRO_BATCHES; ++m) {
    const int32_t *tokens = I32(TINY_TOKENS + 128 * m), *targets = I32(TINY_TARGETS + 128 * m);
    float *loss = F32(TINY_EVAL_LOSS + 4 * m);
    par_action(context, 4 + m);
    *loss = 0;
    for (int i = 0; i < *I32(TINY_LOCAL_ROWS) * TINY_SEQ; ++i) {
      int t = tokens[i] - first;
      if (targets[i] >= 0 && t >= 0 && t < localVocab)
        *loss += F32(TINY_W)[3 * t];
    }
    collective(context, TINY_REDUCE_LOSS, TINY_EVAL_LOSS + 4 * m);
  }
}

/// Of a stage that has nothing to do.
void par_schedule_idle(par_context *context) { (void)context; }
