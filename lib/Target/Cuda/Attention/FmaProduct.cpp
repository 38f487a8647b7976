//===- FmaProduct.cpp - products of f32 by each lane's own sums -----------------------------------===//
#include "WarpProduct.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::par;

/// Terms of a sum that are read at a time: 16 bytes.
static constexpr int64_t kTerms = 4;

namespace {
class FmaProduct : public WarpProduct {
public:
  FmaProduct(BlockCode &code, const SharedTile &staging, Value firstRow)
      : WarpProduct(code), staging(staging), stagingRow(firstRow) {}

  void addRowsByRows(Fragments &sums, const SharedTile &a, Value firstRow, const SharedTile &b) override {
    Value column = Fragments::findColumn(code, 0);
    overTerms(sums, a.columns, [&](Value term, Fragments &each) {
      SmallVector<Values> left = readRows(each, a, firstRow, term);
      Value place = b.at(column, term); // a column of the product is a row of b
      for (int64_t strip = 0; strip < each.strips; ++strip)
        for (int64_t next : {0, 1})
          add(each, strip, next, left, readTerms(b.at(place, strip * Fragments::kColumns + next, 0)));
    });
  }

  /// The lanes of a warp have columns of A that others need: through shared memory.
  void addFragmentsByRows(Fragments &sums, const Fragments &a, const SharedTile &b) override {
    code.meetWarp(); // behind what was read there before
    staging.put(a, stagingRow);
    code.meetWarp();
    Value column = Fragments::findColumn(code, 0);
    overTerms(sums, b.rows, [&](Value term, Fragments &each) {
      SmallVector<Values> left = readRows(each, staging, stagingRow, term);
      Value place = b.at(term, column);
      for (int64_t strip = 0; strip < each.strips; ++strip) {
        Values right[2];
        for (int64_t row = 0; row < kTerms; ++row)
          for (auto [next, value] :
               llvm::enumerate(readVector(b.at(place, row, strip * Fragments::kColumns), 2)))
            right[next].push_back(value);
        for (int64_t next : {0, 1})
          add(each, strip, next, left, right[next]);
      }
    });
  }

private:
  void overTerms(Fragments &sums, int64_t terms, function_ref<void(Value term, Fragments &each)> body) {
    sums.elements = code.loop(code.whole(0), code.whole(terms), kTerms, sums.elements,
                              [&](Value term, ValueRange carried) {
                                Fragments each(sums.bands, sums.strips, carried);
                                body(term, each);
                                return each.elements;
                              });
  }

  Values readVector(Value place, int64_t count) {
    Value all = code.read(VectorType::get({count}, code.f32), place);
    Values each;
    for (int64_t number = 0; number < count; ++number)
      each.push_back(code.create<LLVM::ExtractElementOp>(all, code.whole(number)));
    return each;
  }
  Values readTerms(Value place) { return readVector(place, kTerms); }

  SmallVector<Values> readRows(const Fragments &sums, const SharedTile &tile, Value firstRow, Value term) {
    SmallVector<Values> rows;
    for (int64_t number = 0; number < sums.countRows(); ++number)
      rows.push_back(readTerms(tile.at(code.add(firstRow, Fragments::findRow(code, number)), term)));
    return rows;
  }

  void add(Fragments &sums, int64_t strip, int64_t next, ArrayRef<Values> left, ArrayRef<Value> right) {
    for (int64_t row = 0; row < sums.countRows(); ++row) {
      Value &sum = sums.at(row / 2, strip, row % 2 * 2 + next);
      for (int64_t term = 0; term < kTerms; ++term)
        sum = code.create<math::FmaOp>(left[row][term], right[term], sum);
    }
  }

  const SharedTile &staging;
  Value stagingRow;
};
} // namespace

std::unique_ptr<WarpProduct> par::createFmaProduct(BlockCode &code, const SharedTile &staging,
                                                   Value firstRow) {
  return std::make_unique<FmaProduct>(code, staging, firstRow);
}
