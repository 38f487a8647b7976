// Products of bf16 matrices by AVX512-BF16's dot products of pairs.
#include "cpu/Bf16Panels.h"
#include "cpu/BlockWalk.h"
#include "cpu/PairedBlocks.h"

#include <immintrin.h>

#define PAR_DOT __attribute__((target("arch=x86-64-v4,avx512bf16"), min_vector_width(512)))

namespace par::cpu {
namespace {

/// As the tile of f32 numbers (cpu/PackedBlocks.h), with a word that holds two terms.
struct DotTile {
  static constexpr bool large = true;
  static constexpr int vectors = 2, rows = 14;
  static constexpr int64_t columns = pairedColumns, wordStride = 16, panelOfA = wordStride * mostWords;

  template <int rows>
  PAR_DOT static void multiply(const BlockProduct &p, const float *a, const float *b, const float *addend,
                               float *c, int64_t stride) {
    if (p.transposedA)
      sum<rows, 1, wordStride>(p.words, a, b, p.beta, addend, c, stride);
    else
      sum<rows, mostWords, 1>(p.words, a, b, p.beta, addend, c, stride);
  }

private:
  template <int rows, int64_t rowStep, int64_t wordStep>
  PAR_DOT PAR_INLINE static void sum(int64_t words, const float *a, const float *b, float beta,
                                     const float *addend, float *c, int64_t stride) {
    constexpr int ahead = 16; // words of B that are on their way from the second cache
    __m512 sums[rows][vectors] = {};
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; ++i)
      __builtin_prefetch(c + i * stride, 1);
#pragma clang loop unroll_count(2)
    for (int64_t word = 0; word < words; ++word, a += wordStep, b += columns) {
      __m512 factors[vectors];
#pragma clang loop unroll(full)
      for (int j = 0; j < vectors; ++j) {
        __builtin_prefetch(b + ahead * columns + j * 16);
        factors[j] = _mm512_loadu_ps(b + j * 16);
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; ++i) {
        __m512 factor = _mm512_set1_ps(a[i * rowStep]);
#pragma clang loop unroll(full)
        for (int j = 0; j < vectors; ++j)
          sums[i][j] = _mm512_dpbf16_ps(sums[i][j], (__m512bh)factor, (__m512bh)factors[j]);
      }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < vectors; ++j) {
        int64_t at = i * stride + j * 16;
        if (addend)
          sums[i][j] = sums[i][j] + _mm512_loadu_ps(addend + at) * beta;
        _mm512_storeu_ps(c + at, sums[i][j]);
      }
  }
};
static_assert(blocksFit(DotTile::rows, DotTile::columns, DotTile::panelOfA));

/// Panels of a tile's rows of a transposed A, word by word.
PAR_DOT void packTransposedA(const Bf16Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  constexpr int64_t rows = DotTile::rows;
  int64_t words = wordsOfPairs(of.terms, 1);
  const uint16_t *from = p.a + of.term * p.lda;
  for (int64_t word = 0; word < words; ++word, from += 2 * p.lda, to += DotTile::wordStride) {
    const uint16_t *second = 2 * word + 1 < of.terms ? from + p.lda : nullptr;
    float *at = to;
    for (int64_t row = begin; row < end; row += rows, at += DotTile::panelOfA) {
      // Some more than the panel's rows, in whole vectors, where the matrix has them.
      int64_t count = row + DotTile::wordStride <= p.m ? DotTile::wordStride : std::min(rows, end - row);
      pairRows(from + row, second ? second + row : nullptr, count, at);
    }
  }
}

PAR_DOT void packA(const Bf16Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  if (p.transpose_a)
    return packTransposedA(p, of, begin, end, to);
  for (int64_t row = begin; row < end; ++row)
    pairRowOfA(p.a + row * p.lda + of.term, of.terms, wordsOfPairs(of.terms, 1),
               to + (row - begin) / DotTile::rows * DotTile::panelOfA +
                   (row - begin) % DotTile::rows * mostWords);
}

PAR_DOT void packB(const Bf16Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  pairB(p, of, begin, end, /*granule=*/1, to);
}

// The way through the tiles too: it multiplies and adds in one rounding only where the processor can.
PAR_DOT void multiply(const BlockProduct &p) { multiplyBlocks<DotTile>(p); }

/// Sums of a panel that are held in registers.
constexpr int heldRows = 8, heldVectors = 2;
static_assert(panelRows % heldRows == 0 && panelColumns == heldVectors * 16);

PAR_DOT void sumPanel(int64_t words, PairRows a, PairRows b, bool add, Rows c) {
  __m512 sums[heldRows][heldVectors];
#pragma clang loop unroll(full)
  for (int i = 0; i < heldRows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < heldVectors; ++j)
      sums[i][j] = add ? _mm512_loadu_ps(c.data + i * c.stride + j * 16) : __m512{};
  for (int64_t word = 0; word < words; ++word) {
    const float *right = b.words + word * b.stride;
    __m512 factors[heldVectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < heldVectors; ++j)
      factors[j] = _mm512_loadu_ps(right + j * 16);
#pragma clang loop unroll(full)
    for (int i = 0; i < heldRows; ++i) {
      __m512 factor = _mm512_set1_ps(a.words[i * a.stride + word]);
#pragma clang loop unroll(full)
      for (int j = 0; j < heldVectors; ++j)
        sums[i][j] = _mm512_dpbf16_ps(sums[i][j], (__m512bh)factor, (__m512bh)factors[j]);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < heldRows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < heldVectors; ++j)
      _mm512_storeu_ps(c.data + i * c.stride + j * 16, sums[i][j]);
}

void multiplyPanels(int64_t rows, int64_t columns, int64_t words, PairRows a, PairRows b, bool add, Rows c) {
  for (int64_t column = 0; column < columns; column += heldVectors * 16)
    for (int64_t row = 0; row < rows; row += heldRows)
      sumPanel(words, {a.words + row * a.stride, a.stride}, {b.words + column, b.stride}, add,
               {c.data + row * c.stride + column, c.stride});
}

} // namespace

const PanelKernels &dotPanels() {
  static const PanelKernels kernels{multiplyPanels, [] {}, [] {}};
  return kernels;
}

const BlockKernels<Bf16Product> &dotKernels() {
  static const BlockKernels<Bf16Product> kernels{
      DotTile::rows, DotTile::columns, DotTile::panelOfA, /*termsPerWord=*/2, /*granule=*/1, packA,
      packB,         multiply};
  return kernels;
}

} // namespace par::cpu
