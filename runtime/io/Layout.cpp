#include "par/io/Layout.h"

#include <algorithm>

namespace par::io {

int64_t elementCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Shape fileStrides(const Shape &logical, const std::vector<int64_t> &permutation) {
  Shape strides(logical.size(), 1);
  int64_t stride = 1;
  for (size_t i = permutation.size(); i-- > 0;) {
    strides[permutation[i]] = stride;
    stride *= logical[permutation[i]];
  }
  return strides;
}

/// Number of elements along a dimension that are no padding.
static int64_t validSize(const ShardLayout &layout, size_t dimension) {
  return std::clamp<int64_t>(layout.logical[dimension] - layout.begin[dimension], 0, layout.local[dimension]);
}

void forEachRow(const ShardLayout &layout, const std::function<void(const ShardRow &)> &visit) {
  size_t rank = layout.local.size();
  if (rank == 0)
    return visit({0, 0, 1, 1});
  size_t last = rank - 1;
  for (size_t d = 0; d < rank; ++d)
    if (validSize(layout, d) == 0)
      return;
  Shape index(last, 0);
  while (true) {
    ShardRow row{0, layout.begin[last] * layout.strides[last], layout.strides[last], validSize(layout, last)};
    for (size_t d = 0; d < last; ++d) {
      row.local = (row.local + index[d]) * layout.local[d + 1];
      row.file += (layout.begin[d] + index[d]) * layout.strides[d];
    }
    visit(row);
    size_t d = last;
    while (d-- > 0) {
      if (++index[d] < validSize(layout, d))
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

int64_t firstIndex(const ShardLayout &layout, int64_t place) {
  return layout.logical.empty() ? 0 : place / layout.strides[0] % layout.logical[0];
}

} // namespace par::io
