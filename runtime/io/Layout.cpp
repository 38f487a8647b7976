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

int64_t rowCount(const ShardLayout &layout) {
  int64_t count = 1;
  for (size_t d = 0; d < layout.local.size(); ++d) {
    int64_t size = validSize(layout, d);
    if (size == 0)
      return 0;
    if (d + 1 < layout.local.size())
      count *= size;
  }
  return count;
}

ShardRow rowAt(const ShardLayout &layout, int64_t number) {
  if (layout.local.empty())
    return {0, 0, 1, 1};
  size_t last = layout.local.size() - 1;
  ShardRow row{0, layout.begin[last] * layout.strides[last], layout.strides[last], validSize(layout, last)};
  int64_t width = layout.local[last];
  for (size_t d = last; d-- > 0; width *= layout.local[d]) {
    int64_t index = number % validSize(layout, d);
    number /= validSize(layout, d);
    row.local += index * width;
    row.file += (layout.begin[d] + index) * layout.strides[d];
  }
  return row;
}

void forEachRow(const ShardLayout &layout, const std::function<void(const ShardRow &)> &visit) {
  for (int64_t number = 0, count = rowCount(layout); number < count; ++number)
    visit(rowAt(layout, number));
}

int64_t firstIndex(const ShardLayout &layout, int64_t place) {
  return layout.logical.empty() ? 0 : place / layout.strides[0] % layout.logical[0];
}

} // namespace par::io
