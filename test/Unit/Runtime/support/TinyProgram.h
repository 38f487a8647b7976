// A rank program written by hand: what the compiler's output looks like to the runtime. The model is a table
// w[vocab, 3]; the loss is the mean over tokens t of w[t,0] + 2 w[t,1] + 3 w[t,2], so its gradient is known
// in closed form. Offsets within the arena, shared by the program (C) and the manifest that the tests write
// (C++).
#ifndef TINY_PROGRAM_H
#define TINY_PROGRAM_H

enum {
  TINY_VOCAB = 10,
  TINY_SEQ = 5,
  TINY_BATCH = 8,
  TINY_MICRO_BATCHES = 2,
  TINY_ROWS = TINY_BATCH / TINY_MICRO_BATCHES,
  TINY_TOKENS = 0,    // two micro-batches, 128 bytes each
  TINY_TARGETS = 256, // likewise
  TINY_LR = 512,
  TINY_LOSS_SCALE = 516,
  TINY_STEP = 520,
  TINY_MICRO_BATCH = 524,
  TINY_KEY = 532,
  TINY_LOCAL_ROWS = 544,  // constant, i32
  TINY_LOCAL_VOCAB = 548, // constant, i32
  TINY_FACTOR = 552,      // constant, f32: scales the loss; 1 in a correct package
  TINY_STARTED = 556,     // constant, i32: whether collectives run beside other work
  TINY_LOSS = 576,
  TINY_NORM = 580,
  TINY_PAIR = 584,      // loss and squared norm
  TINY_EVAL_LOSS = 592, // one per micro-batch, where the package has the schedule "eval"
  TINY_W = 640,
  TINY_GRADIENT = 768,
  TINY_PEAK = 900, // a number is written below this byte, and none beyond
  TINY_ARENA = 1024
};

#define TINY_MANIFEST_HASH "0123456789abcdef tiny manifest 0123456789abcdef tiny manifest 64"

enum { TINY_REDUCE_GRADIENT, TINY_REDUCE_LOSS, TINY_REDUCE_NORM };

#endif
