#include "par/io/Checkpoint.h"

#include <algorithm>

namespace par::io {

void BlockHash::update(const void *data, size_t bytes) {
  for (const char *next = static_cast<const char *>(data); bytes > 0;) {
    size_t take = size_t(std::min<int64_t>(int64_t(bytes), missing));
    part.update(next, take);
    next += take, bytes -= take, missing -= int64_t(take);
    if (missing > 0)
      continue;
    done.push_back(part.finish());
    part = Sha256();
    missing = partBytes;
  }
}

std::vector<std::string> BlockHash::finish() {
  if (missing < partBytes)
    done.push_back(part.finish());
  return std::move(done);
}

} // namespace par::io
