//===- MmaProduct.cpp - products of bf16 by mma.sync ----------------------------------------------===//
// m16n8k16 (sm_80). Of A a lane has four registers of two elements, of B two; ldmatrix brings them from
// shared memory, as 8 x 8 matrices of whose rows each lane names one (PTX ISA, "ldmatrix").
#include "../Bf16Pair.h"
#include "WarpProduct.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::par;

/// Terms of a sum that one instruction adds.
static constexpr int64_t kTerms = 16;

namespace {
class MmaProduct : public WarpProduct {
public:
  using WarpProduct::WarpProduct;

  void addRowsByRows(Fragments &sums, const SharedTile &a, Value firstRow, const SharedTile &b) override {
    // A: rows 0-7, rows 8-15, then both of the columns from 8 on. B: columns 0-7, columns from 8 on, then
    // both of the next strip.
    Value laneOfA = a.at(code.add(firstRow, code.rest(code.lane, 16)), half(16, 8));
    Value laneOfB = b.at(code.add(code.rest(code.lane, 8), half(16, 8)), code.times(odd(8), 8));
    for (int64_t term = 0; term < a.columns; term += kTerms) {
      SmallVector<Values> left;
      for (int64_t band = 0; band < sums.bands; ++band)
        left.push_back(loadMatrices(a.at(laneOfA, band * Fragments::kRows, term), NVVM::MMALayout::row));
      for (int64_t strip = 0; strip < sums.strips; strip += 2) {
        Value place = b.at(laneOfB, strip * Fragments::kColumns, term);
        addPair(sums, strip, left, loadMatrices(place, NVVM::MMALayout::row));
      }
    }
  }

  void addFragmentsByRows(Fragments &sums, const Fragments &a, const SharedTile &b) override {
    // Transposed. B: rows 0-7, rows 8-15, then both of the next strip.
    Value laneOfB = b.at(code.rest(code.lane, 16), half(16, 8));
    for (int64_t term = 0; term < b.rows; term += kTerms) {
      SmallVector<Values> left;
      for (int64_t band = 0; band < sums.bands; ++band)
        left.push_back(pack(a, band, term / Fragments::kColumns));
      for (int64_t strip = 0; strip < sums.strips; strip += 2) {
        Value place = b.at(laneOfB, term, strip * Fragments::kColumns);
        addPair(sums, strip, left, loadMatrices(place, NVVM::MMALayout::col));
      }
    }
  }

private:
  /// `step` for lanes from `count` on, else 0.
  Value half(int64_t count, int64_t step) { return code.times(code.divide(code.lane, count), step); }
  /// 1 for lanes of every other `count`.
  Value odd(int64_t count) { return code.rest(code.divide(code.lane, count), 2); }

  Values extract(Value all) {
    Values each;
    for (int64_t i : {0, 1, 2, 3})
      each.push_back(code.create<LLVM::ExtractValueOp>(all, i));
    return each;
  }
  Type getFour(Type type) {
    return LLVM::LLVMStructType::getLiteral(type.getContext(), SmallVector<Type>(4, type));
  }

  Values loadMatrices(Value place, NVVM::MMALayout layout) {
    return extract(code.create<NVVM::LdMatrixOp>(getFour(code.i32), place, 4, layout));
  }

  /// Two strips of sums are 16 columns of A: sums are laid out as operands are.
  Values pack(const Fragments &a, int64_t band, int64_t strip) {
    Values packed;
    for (int64_t next : {0, 1})
      for (int64_t row : {0, 2})
        packed.push_back(packBf16(code.builder, code.loc, a.at(band, strip + next, row),
                                  a.at(band, strip + next, row + 1)));
    return packed;
  }

  /// To two strips of sums from `strip` on.
  void addPair(Fragments &sums, int64_t strip, ArrayRef<Values> left, ArrayRef<Value> right) {
    for (int64_t band = 0; band < sums.bands; ++band)
      for (int64_t next : {0, 1}) {
        Values operands(left[band]);
        operands.append({right[2 * next], right[2 * next + 1]});
        for (int64_t i = 0; i < Fragments::kElements; ++i)
          operands.push_back(sums.at(band, strip + next, i));
        auto name = code.builder.getStringAttr("llvm.nvvm.mma.m16n8k16.row.col.bf16");
        Value all = code.builder.create<LLVM::CallIntrinsicOp>(code.loc, getFour(code.f32), name, operands)
                        .getResult(0);
        for (auto [i, sum] : llvm::enumerate(extract(all)))
          sums.at(band, strip + next, static_cast<int64_t>(i)) = sum;
      }
  }
};
} // namespace

std::unique_ptr<WarpProduct> par::createMmaProduct(BlockCode &code) {
  return std::make_unique<MmaProduct>(code);
}
