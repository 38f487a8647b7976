/// How far memory has been written that was painted before.
#ifndef PAR_RT_PAINT_H
#define PAR_RT_PAINT_H

#include "device/FillWords.h"

#include <algorithm>
#include <cstring>

namespace par::rt {

/// Bytes up to the end of the last element that is not the paint, of memory that begins where a word of paint
/// does. Elements have two bytes or more, or are truth values of one.
inline int64_t findWritten(const char *bytes, int64_t count) {
  char paint[sizeof device::paintWord];
  std::memcpy(paint, &device::paintWord, sizeof paint);
  for (int64_t half = (count + 1) / 2; half-- > 0;) {
    const char *written = bytes + 2 * half, *painted = paint + 2 * (half % 2);
    int64_t size = std::min<int64_t>(2, count - 2 * half);
    if (std::memcmp(written, painted, size_t(size)) == 0)
      continue;
    bool isTruth = size == 2 && written[1] == painted[1] && (written[0] == 0 || written[0] == 1);
    return 2 * half + (isTruth ? 1 : size);
  }
  return 0;
}

} // namespace par::rt
#endif
