/// Bytes that are touched a few at a time, as ranges that are as large as they can be.
#ifndef PAR_STANDIN_EXTENTS_H
#define PAR_STANDIN_EXTENTS_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace par::standin {

class Extents {
public:
  using Extent = std::pair<uint64_t, uint64_t>; ///< begin and end

  void add(uint64_t begin, uint64_t end) {
    if (!all.empty() && all.back().second == begin)
      all.back().second = end;
    else if (!all.empty() && all.back().first == end)
      all.back().first = begin;
    else
      all.push_back({begin, end});
  }

  /// Each byte in one, in order.
  std::vector<Extent> merged() const {
    std::vector<Extent> sorted = all, result;
    std::sort(sorted.begin(), sorted.end());
    for (const Extent &one : sorted)
      if (!result.empty() && one.first <= result.back().second)
        result.back().second = std::max(result.back().second, one.second);
      else
        result.push_back(one);
    return result;
  }

private:
  std::vector<Extent> all;
};

} // namespace par::standin
#endif
