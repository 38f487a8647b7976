#include "cpu/Dot.h"

#include "cpu/Simd.h"

#include <algorithm>

namespace par::cpu {

static constexpr int64_t blockSize = 1024;

PAR_CLONES float dotBlock(int64_t count, const float *a, const float *b) {
  float lanes[32] = {0};
  int64_t whole = count / 32 * 32;
  for (int64_t i = 0; i < whole; i += 32)
    for (int j = 0; j < 32; ++j)
      lanes[j] += a[i + j] * b[i + j];
  for (int64_t i = whole; i < count; ++i)
    lanes[i - whole] += a[i] * b[i];
  float sum = 0;
  for (float lane : lanes)
    sum += lane;
  return sum;
}

static double dotPart(int64_t begin, int64_t end, const float *a, int64_t strideA, const float *b,
                      int64_t strideB) {
  double sum = 0;
  if (strideA != 1 || strideB != 1) {
    for (int64_t i = begin; i < end; ++i)
      sum += double(a[i * strideA]) * double(b[i * strideB]);
    return sum;
  }
  for (int64_t i = begin; i < end; i += blockSize)
    sum += double(dotBlock(std::min(blockSize, end - i), a + i, b + i));
  return sum;
}

double dot(Pool *pool, int64_t count, const float *a, int64_t strideA, const float *b, int64_t strideB) {
  constexpr int64_t pieces = 64; // each summed by one thread, whichever
  double sums[pieces];
  int64_t size = (count + pieces - 1) / pieces;
  size = (size + blockSize - 1) / blockSize * blockSize;
  constexpr int64_t enough = 1 << 16; // products that are worth a thread
  runParts(pool, count / enough, [&](int64_t part, int64_t parts) {
    for (int64_t piece = part; piece < pieces; piece += parts)
      sums[piece] =
          dotPart(std::min(count, piece * size), std::min(count, (piece + 1) * size), a, strideA, b, strideB);
  });
  double sum = 0;
  for (double piece : sums)
    sum += piece;
  return sum;
}

} // namespace par::cpu
