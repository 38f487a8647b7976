#include "par/io/Layout.h"

#include "par/io/FilePlace.h"

#include <algorithm>
#include <numeric>

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

Shape Ranges::sizes() const {
  Shape sizes;
  for (size_t d = 0; d < begin.size() && d < end.size(); ++d)
    sizes.push_back(end[d] - begin[d]);
  return sizes;
}

std::string toString(const Ranges &ranges) {
  std::string text = "[";
  for (size_t d = 0; d < ranges.begin.size() && d < ranges.end.size(); ++d)
    text += (d ? ", " : "") + std::to_string(ranges.begin[d]) + ":" + std::to_string(ranges.end[d]);
  return text + "]";
}

static bool overlap(const Ranges &a, const Ranges &b) {
  for (size_t d = 0; d < a.begin.size(); ++d)
    if (std::max(a.begin[d], b.begin[d]) >= std::min(a.end[d], b.end[d]))
      return false;
  return true;
}

/// They are looked at by where they begin in dimension 0, each beside those that have not ended there.
std::optional<std::pair<size_t, size_t>> findOverlap(const std::vector<Ranges> &list) {
  std::vector<size_t> order(list.size()), open;
  std::iota(order.begin(), order.end(), 0);
  auto first = [&](size_t i) { return list[i].begin.empty() ? 0 : list[i].begin[0]; };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(first(a), a) < std::pair(first(b), b); });
  for (size_t number : order) {
    auto hasEnded = [&](size_t i) { return !list[i].end.empty() && list[i].end[0] <= first(number); };
    open.erase(std::remove_if(open.begin(), open.end(), hasEnded), open.end());
    for (size_t other : open)
      if (overlap(list[other], list[number]))
        return std::minmax(other, number);
    open.push_back(number);
  }
  return std::nullopt;
}

ShardLayout layoutOf(const Shard &shard, const TensorPart &part) {
  ShardLayout layout{shard, {}, {}, part.first, part.strides};
  for (size_t d = 0; d < shard.local.size(); ++d) {
    int64_t begin = std::max(shard.begin[d], part.part.begin[d]);
    int64_t end = std::min(shard.begin[d] + shard.local[d], part.part.end[d]);
    layout.begin.push_back(begin - shard.begin[d]);
    layout.size.push_back(std::max<int64_t>(0, end - begin));
    layout.place += (begin - part.part.begin[d]) * part.strides[d];
  }
  return layout;
}

int64_t rowCount(const ShardLayout &layout) {
  if (elementCount(layout.size) == 0)
    return 0;
  int64_t count = 1;
  for (size_t d = 0; d + 1 < layout.size.size(); ++d)
    count *= layout.size[d];
  return count;
}

ShardRow rowAt(const ShardLayout &layout, int64_t number) {
  if (layout.size.empty())
    return {0, layout.place, 1, 1};
  size_t last = layout.size.size() - 1;
  ShardRow row{layout.begin[last], layout.place, layout.strides[last], layout.size[last]};
  int64_t width = layout.shard.local[last];
  for (size_t d = last; d-- > 0; width *= layout.shard.local[d]) {
    int64_t index = number % layout.size[d];
    number /= layout.size[d];
    row.local += (layout.begin[d] + index) * width;
    row.file += index * layout.strides[d];
  }
  return row;
}

void forEachRow(const ShardLayout &layout, const std::function<void(const ShardRow &)> &visit) {
  for (int64_t number = 0, count = rowCount(layout); number < count; ++number)
    visit(rowAt(layout, number));
}

int64_t firstIndex(const Shard &shard, int64_t local) {
  for (size_t d = 1; d < shard.local.size(); ++d)
    local /= shard.local[d];
  return shard.local.empty() ? 0 : shard.begin[0] + local;
}

} // namespace par::io
