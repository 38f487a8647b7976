/// What a processor multiplies packed blocks of matrices with.
#ifndef PAR_CPU_BLOCKKERNELS_H
#define PAR_CPU_BLOCKKERNELS_H

#include "cpu/BlockedProduct.h"
#include "cpu/Units.h"

#include <cstdint>

namespace par::cpu {

/// Words of 4 bytes that a row of a packed block has at most: an f32 number each, or a pair of bf16 numbers.
/// A tile's rows of A stay in the first cache.
constexpr int64_t mostWords = 384;

/// Rows or columns of C whose terms are packed at a time: along the shorter side for all threads, along the
/// longer one for a single thread.
constexpr int64_t mostShared = 1024, mostOwnRows = 112, mostOwnColumns = 192;
/// Words of either block.
constexpr int64_t sharedWords = (mostShared / 6 + 1) * 16 * mostWords, ownWords = mostOwnColumns * mostWords;

/// Whether blocks of such tiles have room.
constexpr bool blocksFit(int64_t rows, int64_t columns, int64_t panelOfA) {
  return (mostShared / rows + 1) * panelOfA <= sharedWords &&
         (mostShared / columns + 1) * columns * mostWords <= sharedWords && mostOwnRows >= rows &&
         mostOwnColumns >= columns && mostOwnRows / rows * panelOfA <= ownWords;
}

/// Terms [term, term + terms) of a product.
struct Terms {
  int64_t term, terms;
};

/// A packed block of A, one of B, and where their product goes.
struct BlockProduct {
  bool transposedA; ///< A was given transposed
  int64_t rows, columns;
  int64_t words;      ///< of a row
  const float *a, *b; ///< packed words
  float beta;
  const float *addend; ///< laid out as c; null: 0
  float *c;
  int64_t ldc; ///< elements between rows
};

/// How blocks are packed for one kind of units, and multiplied by them. The functions are called once per
/// block, so that each may be compiled for its own processor.
template <typename Product>
struct BlockKernels {
  int64_t rows, columns; ///< of C that are computed at a time
  int64_t panelOfA; ///< words of a panel of `rows` rows of A; one of B has `columns` times the words of a row
  int64_t termsPerWord;
  int64_t granule; ///< a row is filled up with zeros to a multiple of so many words
  /// Rows [begin, end) of A, or columns of B, in panels one behind the other.
  void (*packA)(const Product &, Terms, int64_t begin, int64_t end, float *to);
  void (*packB)(const Product &, Terms, int64_t begin, int64_t end, float *to);
  void (*multiply)(const BlockProduct &);
  /// Round what a thread does; null: nothing.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;

  int64_t wordsOf(int64_t terms) const {
    int64_t whole = granule * termsPerWord;
    return (terms + whole - 1) / whole * granule;
  }
};

/// Those for f32, and for bf16 numbers that are widened as they are packed, at this processor's level.
const BlockKernels<par_product> &floatKernels();
const BlockKernels<Bf16Product> &widenedKernels();

/// Those of units that multiply bf16 numbers. Only where the processor has them (cpu/Units.h).
const BlockKernels<Bf16Product> &dotKernels();
const BlockKernels<Bf16Product> &tileKernels();

/// Those of the units in use.
const BlockKernels<Bf16Product> &bf16Kernels();

} // namespace par::cpu
#endif
