//===- WarpProduct.h - products of matrices by a warp -------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_WARPPRODUCT_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_WARPPRODUCT_H

#include "SharedTile.h"

namespace mlir::par {

/// Sums in f32 of products of a tile's elements. Tiles have a multiple of 16 rows and columns.
class WarpProduct {
public:
  explicit WarpProduct(BlockCode &code) : code(code) {}
  virtual ~WarpProduct() = default;

  /// sums += A Bᵀ: rows of `a` from `firstRow` on, by rows of `b`.
  virtual void addRowsByRows(Fragments &sums, const SharedTile &a, Value firstRow, const SharedTile &b) = 0;
  /// sums += A B, where A is in registers, rounded to the tiles' type.
  virtual void addFragmentsByRows(Fragments &sums, const Fragments &a, const SharedTile &b) = 0;

protected:
  BlockCode &code;
};

/// Of bf16, by mma.sync; every product is exact.
std::unique_ptr<WarpProduct> createMmaProduct(BlockCode &code);
/// Of f32, by each lane's own fused multiplications and additions, term by term. `staging` has the rows that
/// this warp has in registers, from `firstRow` on.
std::unique_ptr<WarpProduct> createFmaProduct(BlockCode &code, const SharedTile &staging, Value firstRow);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_WARPPRODUCT_H
