/// Who touched which bytes last: finds what no event orders.
#ifndef PAR_STANDIN_ACCESSES_H
#define PAR_STANDIN_ACCESSES_H

#include "standin/Clock.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace par::standin {

/// An operation as the bytes that it touched remember it.
struct Toucher {
  int lane = -1; ///< -1: nobody
  uint64_t time = 0;
  std::shared_ptr<const std::string> name;
};

struct ByteRange {
  uint64_t begin, end; ///< device addresses
  bool writes;
};

/// The last writer of every byte, and who has read it since.
class Accesses {
public:
  /// Notes an access of an operation that is behind all that its clock covers; reports every one that is not
  /// ordered with it. That is so in any schedule, whichever the executor drew.
  void add(const Toucher &who, const Clock &clock, const ByteRange &range);
  void forget(uint64_t begin, uint64_t end);

private:
  struct Piece {
    uint64_t end;
    Toucher writer;
    std::map<int, Toucher> readers; ///< by lane, the last of each
  };
  void split(uint64_t at);
  void replace(const ByteRange &range, const Toucher &writer);

  std::map<uint64_t, Piece> pieces; ///< by begin; they do not overlap
};

} // namespace par::standin
#endif
