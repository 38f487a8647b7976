#include "standin/Accesses.h"

#include "standin/Report.h"

namespace par::standin {

/// No piece has bytes on both sides of `at` from now on.
void Accesses::split(uint64_t at) {
  auto found = pieces.upper_bound(at);
  if (found == pieces.begin() || (--found)->first == at || found->second.end <= at)
    return;
  Piece rest = found->second;
  found->second.end = at;
  pieces[at] = rest;
}

static void checkOrder(const Toucher &first, const char *did, const Toucher &second, const Clock &clock,
                       const char *does) {
  if (first.lane >= 0 && !clock.covers(first.lane, first.time))
    report("race: " + *second.name + " " + does + " what " + *first.name + " " + did +
           "; no event orders them");
}

void Accesses::add(const Toucher &who, const Clock &clock, const ByteRange &range) {
  split(range.begin);
  split(range.end);
  for (uint64_t at = range.begin; at < range.end;) {
    auto found = pieces.lower_bound(at);
    uint64_t next = found == pieces.end() ? range.end : std::min(range.end, found->first);
    if (next > at)
      found = pieces.emplace(at, Piece{next, {}, {}}).first;
    Piece &piece = found->second;
    checkOrder(piece.writer, "writes", who, clock, range.writes ? "writes" : "reads");
    if (range.writes)
      for (const auto &reader : piece.readers)
        checkOrder(reader.second, "reads", who, clock, "writes");
    else
      piece.readers[who.lane] = who;
    at = piece.end;
  }
  if (range.writes)
    replace(range, who);
}

/// One piece for what all has the same last writer: else each part that was ever touched alone would stay
/// one.
void Accesses::replace(const ByteRange &range, const Toucher &writer) {
  auto first = pieces.lower_bound(range.begin);
  if (first == pieces.end() || first->first >= range.end)
    return;
  pieces.erase(std::next(first), pieces.lower_bound(range.end));
  first->second = {range.end, writer, {}};
}

void Accesses::forget(uint64_t begin, uint64_t end) {
  split(begin);
  split(end);
  pieces.erase(pieces.lower_bound(begin), pieces.lower_bound(end));
}

} // namespace par::standin
