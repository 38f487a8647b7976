/// Products of the step benchmark's models (test/Benchmarks/step), forward and backward.
#ifndef PAR_BENCHMARKS_SHAPES_H
#define PAR_BENCHMARKS_SHAPES_H

#include <cstdint>

namespace par::benchmarks {

struct Shape {
  const char *name;
  bool transposeA, transposeB;
  int64_t m, n, k;
};

constexpr Shape stepShapes[] = {
    {"C1 qkv", false, true, 1024, 1536, 512},        {"C1 qkv dx", false, false, 1024, 512, 1536},
    {"C1 qkv dW", true, false, 1536, 512, 1024},     {"C1 o", false, true, 1024, 512, 512},
    {"C1 o dW", true, false, 512, 512, 1024},        {"C1 up", false, true, 1024, 2048, 512},
    {"C1 up dx", false, false, 1024, 512, 2048},     {"C1 up dW", true, false, 2048, 512, 1024},
    {"C1 down", false, true, 1024, 512, 2048},       {"C1 down dx", false, false, 1024, 2048, 512},
    {"C1 down dW", true, false, 512, 2048, 1024},    {"C2 logits", false, true, 512, 32000, 384},
    {"C2 logits dx", false, false, 512, 384, 32000}, {"C2 logits dW", true, false, 32000, 384, 512},
    {"C2 gate", false, true, 1024, 1024, 384},       {"C2 gate dx", false, false, 1024, 384, 1024},
    {"C2 gate dW", true, false, 1024, 384, 1024},    {"C3 gate", false, true, 4096, 704, 256},
    {"C3 gate dW", true, false, 704, 256, 4096},     {"C4 up", false, true, 256, 512, 128},
    {"C4 up dW", true, false, 512, 128, 256},
    {"D1 q", false, true, 2048, 384, 384},           {"D1 q dW", true, false, 384, 384, 2048},
    {"D1 k", false, true, 2048, 128, 384},           {"D1 k dx", false, false, 2048, 384, 128},
    {"D1 k dW", true, false, 128, 384, 2048},        {"D1 gate", false, true, 2048, 1024, 384},
    {"D1 gate dx", false, false, 2048, 384, 1024},   {"D1 gate dW", true, false, 1024, 384, 2048},
    {"D1 down", false, true, 2048, 384, 1024},       {"D1 down dx", false, false, 2048, 1024, 384},
    {"D1 down dW", true, false, 384, 1024, 2048},    {"D1 logits", false, true, 2048, 4096, 384},
    {"D1 logits dx", false, false, 2048, 384, 4096}, {"D1 logits dW", true, false, 4096, 384, 2048}};

} // namespace par::benchmarks
#endif
