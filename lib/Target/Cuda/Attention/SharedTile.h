//===- SharedTile.h - rows of a tensor in the shared memory of a block --------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_SHAREDTILE_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_SHAREDTILE_H

#include "Fragments.h"

namespace mlir::par {

/// Rows of one head in device memory.
struct HeadRows {
  Value first;    ///< address of its first element
  int64_t stride; ///< elements between rows
  int64_t rows, columns;
  int64_t access; ///< elements that are moved at a time; divides `columns`
  Value begin;    ///< of what is stored: the column that is a tile's first; null: 0

  Value at(BlockCode &code, Type element, Value row, Value column) const {
    Value count = code.create<arith::AddIOp>(code.widenTimes(row, stride), code.widen(column));
    return code.address(first, element, count);
  }
};

/// `columns` are those of a head up to a multiple of 16. Behind each row 16 bytes are nobody's: so eight rows
/// one below the other have 16 bytes each in banks of their own.
class SharedTile {
public:
  /// From byte `offset` of the block's memory on.
  SharedTile(BlockCode &code, Value memory, int64_t offset, Type element, int64_t rows, int64_t columns);
  static int64_t countBytes(Type element, int64_t rows, int64_t columns) {
    return rows * getStride(element, columns) * BlockCode::getBytes(element);
  }

  Value at(Value row, Value column) const;
  /// The element so many rows and columns away from one.
  Value at(Value place, int64_t rows, int64_t columns) const {
    return code.address(place, element, rows * stride + columns);
  }

  /// The columns from one on.
  SharedTile from(Value column) const;
  /// A tile at the same place with as many rows of other columns.
  SharedTile reshape(int64_t columns) const { return {code, memory, 0, element, rows, columns}; }

  /// All threads of a block of `threads` bring rows from `firstRow` on, a multiple of `rows`; what is behind
  /// the last row or column is zero.
  void load(const HeadRows &from, Value firstRow, int64_t threads) const;
  /// A warp leaves its rows here, from `firstRow` on.
  void put(const Fragments &values, Value firstRow) const;
  /// A warp brings `count` rows from `firstRow` on to memory, where they are rows from `toRow` on.
  void store(const HeadRows &to, Value firstRow, int64_t count, Value toRow) const;

  const Type element; ///< f32 or bf16
  const int64_t rows, columns;

private:
  struct Chunk;
  static int64_t getStride(Type element, int64_t columns) {
    return columns + 16 / BlockCode::getBytes(element);
  }
  Chunk findChunk(const HeadRows &of, Value number) const;
  Type getAccessType(const HeadRows &of) const;
  /// `isExact`: there are as many as these.
  void loadChunks(const HeadRows &from, Value firstRow, ArrayRef<Value> numbers, bool isExact) const;
  Value loadChunk(const HeadRows &from, Value firstRow, const Chunk &chunk, bool isExact) const;

  BlockCode &code;
  const int64_t stride;
  Value memory;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_SHAREDTILE_H
