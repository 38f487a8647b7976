#include "standin/Product.h"

#include "comm/Reduce.h"

#include <cstring>

namespace par::standin {

void Matrix::appendRanges(uint64_t address, bool writes, std::vector<par_standin_range> &ranges) const {
  for (int32_t i = 0; i < batch; ++i) {
    uint64_t begin = address + uint64_t(i * stride * bytesEach());
    if (isDense()) {
      ranges.push_back({begin, uint64_t(rows * columns * bytesEach()), writes});
      continue;
    }
    for (int64_t column = 0; column < columns; ++column)
      ranges.push_back({begin + uint64_t(column * ld * bytesEach()), uint64_t(rows * bytesEach()), writes});
  }
}

static std::string shapeOf(int64_t rows, int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

std::string Product::problem() const {
  int64_t m = transposeA ? a.columns : a.rows, k = transposeA ? a.rows : a.columns;
  int64_t kOfB = transposeB ? b.columns : b.rows, n = transposeB ? b.rows : b.columns;
  if (k != kOfB || d.rows != m || d.columns != n)
    return "op(A) is " + shapeOf(m, k) + ", op(B) " + shapeOf(kOfB, n) + " and D " +
           shapeOf(d.rows, d.columns);
  if (c.rows != d.rows || c.columns != d.columns)
    return "C is " + shapeOf(c.rows, c.columns) + " and D " + shapeOf(d.rows, d.columns);
  if (a.isBf16 != b.isBf16 || c.isBf16 != d.isBf16 || (!a.isBf16 && d.isBf16))
    return "this combination of types is not supported";
  static const char names[] = "ABCD";
  const Matrix *all[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; ++i) {
    std::string name(1, names[i]);
    if (all[i]->ld < all[i]->rows)
      return "the leading dimension of " + name + " is " + std::to_string(all[i]->ld) + ", below its " +
             std::to_string(all[i]->rows) + " rows";
    if (all[i]->batch != d.batch)
      return name + " has " + std::to_string(all[i]->batch) + " matrices, D has " + std::to_string(d.batch);
  }
  if (d.batch > 1 && d.stride < d.ld * (d.columns - 1) + d.rows)
    return "matrices of D lie over each other";
  return "";
}

char *ProductRun::element(char *const *hosts, int which, const Matrix &matrix, int32_t batch, int64_t row,
                          int64_t column) const {
  if (matrix.isDense())
    return hosts[first[which] + size_t(batch)] + (row + column * matrix.rows) * matrix.bytesEach();
  return hosts[first[which] + size_t(batch * matrix.columns + column)] + row * matrix.bytesEach();
}

static float load(const char *from, bool isBf16) {
  if (!isBf16) {
    float value;
    std::memcpy(&value, from, 4);
    return value;
  }
  uint16_t narrow;
  std::memcpy(&narrow, from, 2);
  return comm::widenBf16(narrow);
}

static void store(char *to, float value, bool isBf16) {
  uint16_t narrow = isBf16 ? comm::roundToBf16(value) : uint16_t(0);
  std::memcpy(to, isBf16 ? static_cast<const void *>(&narrow) : &value, isBf16 ? 2 : 4);
}

void ProductRun::compute(char *const *hosts) const {
  auto [transposeA, transposeB, a, b, c, d, alpha, beta] = product;
  if (scaledByDevice)
    alpha = load(hosts[ranges - 2], false), beta = load(hosts[ranges - 1], false);
  int64_t depth = transposeA ? a.rows : a.columns;
  for (int32_t batch = 0; batch < d.batch; ++batch)
    for (int64_t j = 0; j < d.columns; ++j)
      for (int64_t i = 0; i < d.rows; ++i) {
        float sum = 0;
        for (int64_t l = 0; l < depth; ++l)
          sum += load(element(hosts, 0, a, batch, transposeA ? l : i, transposeA ? i : l), a.isBf16) *
                 load(element(hosts, 1, b, batch, transposeB ? j : l, transposeB ? l : j), b.isBf16);
        sum *= alpha;
        if (beta != 0)
          sum += beta * load(element(hosts, 2, c, batch, i, j), c.isBf16);
        store(element(hosts, 3, d, batch, i, j), sum, d.isBf16);
      }
}

} // namespace par::standin
