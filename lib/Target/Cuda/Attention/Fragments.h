//===- Fragments.h - what a warp's lanes have of a matrix ---------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_FRAGMENTS_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_FRAGMENTS_H

#include "BlockCode.h"

namespace mlir::par {

/// Bands of 16 rows by strips of 8 columns. Of each a lane has four elements of f32, as mma.sync m16n8 has
/// its sums (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
///
///   element i: row 16·band + 8·(i / 2) + lane / 4, column 8·strip + 2·(lane mod 4) + i mod 2
///
/// So a lane has of 2·bands rows 2·strips elements each, and the four lanes of a quad have the same rows.
struct Fragments {
  static constexpr int64_t kRows = 16, kColumns = 8, kElements = 4, kQuad = 4;

  Fragments(int64_t bands, int64_t strips, Value fill)
      : bands(bands), strips(strips), elements(bands * strips * kElements, fill) {}
  Fragments(int64_t bands, int64_t strips, ValueRange elements)
      : bands(bands), strips(strips), elements(elements) {}

  Value &at(int64_t band, int64_t strip, int64_t i) {
    return elements[(band * strips + strip) * kElements + i];
  }
  Value at(int64_t band, int64_t strip, int64_t i) const {
    return elements[(band * strips + strip) * kElements + i];
  }
  int64_t countRows() const { return 2 * bands; }
  /// Visits what this lane has: the number of its row, strip, which of two columns.
  void forEach(function_ref<void(int64_t row, int64_t strip, int64_t column, Value &)> visit) {
    for (int64_t row = 0; row < countRows(); ++row)
      for (int64_t strip = 0; strip < strips; ++strip)
        for (int64_t column : {0, 1})
          visit(row, strip, column, at(row / 2, strip, row % 2 * 2 + column));
  }

  /// Row `number` of this lane, within the warp's.
  static Value findRow(BlockCode &code, int64_t number) {
    return code.add(code.divide(code.lane, kQuad), number / 2 * kRows + number % 2 * 8);
  }
  /// The first of this lane's two columns of a strip.
  static Value findColumn(BlockCode &code, int64_t strip) {
    return code.add(code.times(code.rest(code.lane, kQuad), 2), strip * kColumns);
  }

  int64_t bands, strips;
  Values elements;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_FRAGMENTS_H
