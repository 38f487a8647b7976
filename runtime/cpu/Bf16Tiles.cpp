// Products of bf16 matrices by AMX: tiles of 16 rows times 16 columns, 32 terms at a time (Intel, Software
// Developer's Manual, volume 1, chapter 18; Optimization Reference Manual, chapter 20).
#include "cpu/Bf16Panels.h"
#include "cpu/PairedBlocks.h"

#include <immintrin.h>

#define PAR_TILES __attribute__((target("arch=x86-64-v4,amx-tile,amx-bf16"), min_vector_width(512)))

namespace par::cpu {
namespace {

/// Two tiles by two tiles of C at a time: each tile of A and of B that is loaded is used twice.
constexpr int64_t side = 16, rows = 2 * side, columns = pairedColumns, panelOfA = rows * mostWords;
static_assert(columns == 2 * side && mostWords % side == 0 && blocksFit(rows, columns, panelOfA));

/// All tiles are 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);

PAR_TILES void enter() {
  static const TileConfiguration configuration;
  _tile_loadconfig(&configuration);
}

/// Or every switch of threads would save eight KiB.
PAR_TILES void leave() { _tile_release(); }

/// c = start + A B in f32; `start` is laid out as c, null: 0. `down` and `across` tiles of C.
template <int down, int across>
PAR_TILES void sum(int64_t words, PairRows a, PairRows b, const float *start, float *c, int64_t stride) {
  int64_t bytes = stride * 4, bytesOfA = a.stride * 4, bytesOfB = b.stride * 4;
  if (start) {
    _tile_loadd(0, start, bytes);
    if constexpr (across == 2)
      _tile_loadd(1, start + side, bytes);
    if constexpr (down == 2)
      _tile_loadd(2, start + side * stride, bytes);
    if constexpr (down == 2 && across == 2)
      _tile_loadd(3, start + side * stride + side, bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t word = 0; word < words; word += side) {
    const float *left = a.words + word, *right = b.words + word * b.stride;
    _tile_loadd(4, left, bytesOfA);
    _tile_loadd(6, right, bytesOfB);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (across == 2) {
      _tile_loadd(7, right + side, bytesOfB);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (down == 2) {
      _tile_loadd(5, left + side * a.stride, bytesOfA);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (down == 2 && across == 2)
      _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, bytes);
  if constexpr (across == 2)
    _tile_stored(1, c + side, bytes);
  if constexpr (down == 2)
    _tile_stored(2, c + side * stride, bytes);
  if constexpr (down == 2 && across == 2)
    _tile_stored(3, c + side * stride + side, bytes);
}

using Sum = void(int64_t, PairRows, PairRows, const float *, float *, int64_t);
constexpr Sum *sums[2][2] = {{sum<1, 1>, sum<1, 2>}, {sum<2, 1>, sum<2, 2>}};

/// The corner of C at (row, column), of which not all tiles or rows may be there: in a square of its own,
/// where beta is neither 0 nor 1 as well.
PAR_TILES void multiplyCorner(const BlockProduct &p, int64_t row, int64_t column, PairRows a, PairRows b) {
  int64_t down = std::min(rows, p.rows - row), across = std::min(columns, p.columns - column);
  int64_t corner = row * p.ldc + column;
  Sum *compute = sums[down > side][across > side];
  bool whole = down % side == 0 && across % side == 0;
  if (whole && (!p.addend || p.beta == 1))
    return compute(p.words, a, b, p.addend ? p.addend + corner : nullptr, p.c + corner, p.ldc);
  alignas(64) float square[rows * columns];
  for (int64_t i = 0; p.addend && i < down; ++i)
    for (int64_t j = 0; j < across; ++j)
      square[i * columns + j] = p.beta * p.addend[corner + i * p.ldc + j];
  compute(p.words, a, b, p.addend ? square : nullptr, square, columns);
  for (int64_t i = 0; i < down; ++i)
    std::memcpy(p.c + corner + i * p.ldc, square + i * columns, size_t(across) * 4);
}

PAR_TILES void multiply(const BlockProduct &p) {
  for (int64_t row = 0; row < p.rows; row += rows)
    for (int64_t column = 0; column < p.columns; column += columns)
      multiplyCorner(p, row, column, {p.a + row * mostWords, mostWords}, {p.b + column * p.words, columns});
}

void multiplyPanels(int64_t height, int64_t width, int64_t words, PairRows a, PairRows b, bool add, Rows c) {
  for (int64_t row = 0; row < height; row += rows)
    for (int64_t column = 0; column < width; column += columns) {
      float *corner = c.data + row * c.stride + column;
      sums[height - row > side][width - column > side](words, {a.words + row * a.stride, a.stride},
                                                       {b.words + column, b.stride}, add ? corner : nullptr,
                                                       corner, c.stride);
    }
}

PAR_TILES void packA(const Bf16Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  int64_t words = wordsOfPairs(of.terms, side);
  for (int64_t row = begin; p.transpose_a && row < end; row += side, to += side * mostWords)
    pairRowsOfTransposedA(p.a + of.term * p.lda + row, p.lda, std::min(side, end - row), of.terms, words, to,
                          mostWords);
  for (int64_t row = begin; !p.transpose_a && row < end; ++row, to += mostWords)
    pairRowOfA(p.a + row * p.lda + of.term, of.terms, words, to);
}

PAR_TILES void packB(const Bf16Product &p, Terms of, int64_t begin, int64_t end, float *to) {
  pairB(p, of, begin, end, side, to);
}

} // namespace

const BlockKernels<Bf16Product> &tileKernels() {
  static const BlockKernels<Bf16Product> kernels{rows,
                                                 columns,
                                                 panelOfA,
                                                 /*termsPerWord=*/2,
                                                 /*granule=*/side,
                                                 packA,
                                                 packB,
                                                 multiply,
                                                 enter,
                                                 leave};
  return kernels;
}

const PanelKernels &tilePanels() {
  static const PanelKernels kernels{multiplyPanels, enter, leave};
  return kernels;
}

} // namespace par::cpu
