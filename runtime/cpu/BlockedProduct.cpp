#include "cpu/BlockedProduct.h"

#include "cpu/PanelProduct.h"

#include <algorithm>
#include <cstring>

namespace par::cpu {

// Sizes of blocks: a tile's rows of A stay in the first cache, a block of B in the second, and a block of A
// in the third.
constexpr int64_t mostTerms = 256, mostColumns = 256, mostRows = 1344;
/// Elements between two terms of a packed transposed panel of A.
constexpr int64_t termStride = 16;

namespace {
/// What is computed in registers at a time.
template <typename L>
struct TileShape {
  static constexpr int vectors = 2;
  static constexpr int64_t columns = vectors * L::width;
  static constexpr int rows = L::registers == 32 ? 14 : 6;
};

/// Copies of one block of each operand.
struct Blocks {
  alignas(64) float a[(mostRows / 6 + 1) * termStride * mostTerms];
  alignas(64) float b[(mostColumns + 32) * mostTerms];
};

/// The block [row, row + rows) x [column, column + columns) of C, and the terms that are added to it.
struct Block {
  const MatrixProduct &product;
  int64_t row, rows, column, columns, term, terms;

  const float *a() const {
    return product.a + (product.transposeA ? term * product.lda + row : row * product.lda + term);
  }
  const float *b() const { return product.b + term * product.ldb + column; }
  float *c(int64_t inBlock) const { return product.c + (row + inBlock) * product.ldc + column; }
  /// What the terms are added to; null: 0.
  const float *addend(int64_t inBlock) const {
    if (term)
      return c(inBlock);
    return product.addend ? product.addend + (row + inBlock) * product.ldc + column : nullptr;
  }
};
} // namespace

static thread_local Blocks blocks;

/// The size of equal blocks of at most `most`, in whole tiles.
static int64_t blockSize(int64_t size, int64_t most, int64_t tile) {
  int64_t count = (size + most - 1) / most;
  return ((size + count - 1) / count + tile - 1) / tile * tile;
}

/// c[rows, TileShape::columns] = addend + A B, from a panel of A whose element (row, term) is at
/// row * rowStep + term * termStep and one of B with a row of the tile's columns per term.
template <typename L, int rows, int64_t rowStep, int64_t termStep>
PAR_INLINE void multiplyTile(int64_t terms, const float *a, const float *b, const float *addend, float *c,
                             int64_t stride) {
  constexpr int vectors = TileShape<L>::vectors;
  constexpr int ahead = 8; // terms of B that are on their way from the second cache
  typename L::Floats sums[rows][vectors] = {};
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i)
    __builtin_prefetch(c + i * stride, 1);
  // Four at a time the compiler runs out of registers: sums that go through memory cost a third of the rate.
#pragma clang loop unroll_count(2)
  for (int64_t term = 0; term < terms; ++term, a += termStep, b += vectors * L::width) {
    typename L::Floats factors[vectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j) {
      __builtin_prefetch(b + (ahead * vectors + j) * L::width);
      load(factors[j], b + j * L::width);
    }
    addTerm<L>(a, rowStep, factors, sums);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j) {
      int64_t at = i * stride + j * L::width;
      if (addend) {
        typename L::Floats before;
        load(before, addend + at);
        sums[i][j] += before;
      }
      store(sums[i][j], c + at);
    }
}

template <typename L, int rows>
PAR_INLINE void multiplyTileOf(bool transposed, int64_t terms, const float *a, const float *b,
                               const float *addend, float *c, int64_t stride) {
  if (transposed)
    multiplyTile<L, rows, 1, termStride>(terms, a, b, addend, c, stride);
  else
    multiplyTile<L, rows, mostTerms, 1>(terms, a, b, addend, c, stride);
}

/// `rows` rows of a block, `a` being their panel.
template <typename L, int rows>
PAR_INLINE void multiplyRow(const Block &block, int64_t row, const float *a) {
  constexpr int64_t wide = TileShape<L>::columns;
  bool transposed = block.product.transposeA;
  int64_t stride = block.product.ldc, column = 0;
  const float *b = blocks.b, *addend = block.addend(row);
  float *c = block.c(row);
  for (; column + wide <= block.columns; column += wide, b += wide * block.terms)
    multiplyTileOf<L, rows>(transposed, block.terms, a, b, addend ? addend + column : nullptr, c + column,
                            stride);
  if (column == block.columns)
    return;
  alignas(64) float tile[rows * wide];
  multiplyTileOf<L, rows>(transposed, block.terms, a, b, nullptr, tile, wide);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; column + j < block.columns; ++j) {
      int64_t at = i * stride + column + j;
      c[at] = addend ? tile[i * wide + j] + addend[at] : tile[i * wide + j];
    }
}

/// As many times `rows` rows as are left.
template <typename L, int rows>
PAR_INLINE void multiplyRowsBy(const Block &block, int64_t &row) {
  constexpr int64_t panel = TileShape<L>::rows;
  for (; row + rows <= block.rows; row += rows)
    multiplyRow<L, rows>(block, row,
                         block.product.transposeA
                             ? blocks.a + row / panel * termStride * mostTerms + row % panel
                             : blocks.a + row * mostTerms);
}

template <typename L>
PAR_INLINE void multiplyBlock(const Block &block) {
  int64_t row = 0;
  multiplyRowsBy<L, TileShape<L>::rows>(block, row);
  if constexpr (TileShape<L>::rows > 8)
    multiplyRowsBy<L, 8>(block, row);
  multiplyRowsBy<L, 4>(block, row);
  multiplyRowsBy<L, 1>(block, row);
}

/// Rows of A one behind the other.
static void packRowsOfA(const Block &block) {
  const float *from = block.a();
  for (int64_t row = 0; row < block.rows; ++row)
    std::memcpy(blocks.a + row * mostTerms, from + row * block.product.lda,
                size_t(block.terms) * sizeof(float));
}

/// Panels of a tile's rows, term by term.
template <typename L>
PAR_INLINE void packTransposedA(const Block &block) {
  constexpr int64_t panel = TileShape<L>::rows;
  for (int64_t term = 0; term < block.terms; ++term) {
    const float *from = block.a() + term * block.product.lda;
    float *to = blocks.a + term * termStride;
    for (int64_t row = 0; row < block.rows; row += panel, to += termStride * mostTerms) {
      int64_t rows = std::min(panel, block.rows - row);
      if (row + termStride > block.rows) {
        std::memcpy(to, from + row, size_t(rows) * sizeof(float));
        continue;
      }
      // Some more than the panel's rows, in whole vectors.
#pragma clang loop unroll(full)
      for (int64_t i = 0; i < termStride; i += L::width) {
        typename L::Floats vector;
        load(vector, from + row + i);
        store(vector, to + i);
      }
    }
  }
}

/// Panels of a tile's columns, term by term; columns beyond the block become 0.
template <typename L>
PAR_INLINE void packRowsOfB(const Block &block) {
  constexpr int64_t panel = TileShape<L>::columns;
  constexpr int64_t ahead = 2; // rows; the prefetcher of the hardware does not see strides beyond a page
  int64_t stride = block.product.ldb, whole = block.columns / panel * panel;
  for (int64_t term = 0; term < block.terms; ++term) {
    const float *from = block.b() + term * stride;
    for (int64_t column = 0; column < block.columns; column += 16)
      __builtin_prefetch(from + ahead * stride + column);
    float *to = blocks.b + term * panel;
    for (int64_t column = 0; column < whole; column += panel, to += panel * block.terms)
#pragma clang loop unroll(full)
      for (int64_t j = 0; j < panel; j += L::width) {
        typename L::Floats vector;
        load(vector, from + column + j);
        store(vector, to + j);
      }
    for (int64_t j = 0; whole < block.columns && j < panel; ++j)
      to[j] = whole + j < block.columns ? from[whole + j] : 0;
  }
}

template <typename L>
PAR_INLINE void multiplyProduct(const MatrixProduct &product) {
  using Tile = TileShape<L>;
  int64_t rows = blockSize(product.m, mostRows - Tile::rows, Tile::rows);
  int64_t columns = blockSize(product.n, mostColumns, Tile::columns);
  int64_t terms = blockSize(product.k, mostTerms, 16);
  for (int64_t row = 0; row < product.m; row += rows)
    for (int64_t term = 0; term < product.k; term += terms) {
      Block block{product, row,  std::min(rows, product.m - row),  0,
                  0,       term, std::min(terms, product.k - term)};
      if (product.transposeA)
        packTransposedA<L>(block);
      else
        packRowsOfA(block);
      for (; block.column < product.n; block.column += columns) {
        block.columns = std::min(columns, product.n - block.column);
        packRowsOfB<L>(block);
        multiplyBlock<L>(block);
      }
    }
}

PAR_LEVELS(multiplyAtLevel, multiplyProduct, const MatrixProduct &)

void multiplyBlocked(const MatrixProduct &product) { multiplyAtLevel(product); }

bool suitsBlocks(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t lda, int64_t ldb) {
  constexpr int64_t page = 4096 / sizeof(float);
  bool copied = m * n > 600 * (m + n); // the library's own rule, about
  if (copied || transposeB || m < 64 || n < 64)
    return false;
  return transposeA ? m >= n && lda % (page / 2) == 0 : ldb % page == 0;
}

} // namespace par::cpu
