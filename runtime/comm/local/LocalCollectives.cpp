#include "comm/local/LocalCollectives.h"

#include "comm/Reduce.h"

#include <algorithm>
#include <cstring>

namespace par::comm {

namespace {
constexpr int64_t chunkBytes = 16384; ///< swaps go through this much stack

/// A range of elements.
struct Range {
  int64_t begin, end;
};
} // namespace

/// Member `self`'s share of `count` elements, cut at cache lines so that members do not write to the same
/// one.
static Range share(int64_t count, int members, int self) {
  int64_t lines = (count + 15) / 16;
  return {std::min(count, lines * self / members * 16), std::min(count, lines * (self + 1) / members * 16)};
}

/// Reduces elements `range` of all sources, in member order, and hands every finished chunk to `store(begin,
/// values, bytes)`. A chunk is stored only when it has been read from all sources, so a destination may be
/// one of them.
template <typename Store>
static void reduce(const LocalExchange &exchange, Range range, Store store) {
  Accumulator accumulator(exchange.collective.op, exchange.collective.type);
  int64_t size = bytesOf(exchange.collective.type);
  for (int64_t begin = range.begin; begin < range.end; begin += Accumulator::chunk) {
    int64_t count = std::min(Accumulator::chunk, range.end - begin);
    accumulator.start(exchange.source(0) + begin * size, count);
    for (int member = 1; member < exchange.members; ++member)
      accumulator.add(exchange.source(member) + begin * size, count);
    *exchange.moved += uint64_t(exchange.members - 1) * uint64_t(count * size);
    store(begin * size, accumulator.finish(count), size_t(count * size));
  }
}

/// Stores reduced bytes of a member's destination.
static void store(const LocalExchange &exchange, int member, char *destination, const void *values,
                  size_t bytes) {
  std::memcpy(destination, values, bytes);
  *exchange.moved += member != exchange.self ? bytes : 0;
}

static void copy(char *destination, const char *source, int64_t bytes) {
  if (destination != source && bytes > 0)
    std::memcpy(destination, source, size_t(bytes));
}

/// From a buffer of member `from` to one of member `to`.
static void move(const LocalExchange &exchange, int to, char *destination, int from, const char *source,
                 int64_t bytes) {
  copy(destination, source, bytes);
  *exchange.moved += to != from && bytes > 0 ? uint64_t(bytes) : 0;
}

static void allReduce(const LocalExchange &exchange) {
  reduce(exchange, share(exchange.count(), exchange.members, exchange.self),
         [&](int64_t at, const void *values, size_t bytes) {
           for (int member = 0; member < exchange.members; ++member)
             store(exchange, member, exchange.destination(member) + at, values, bytes);
         });
}

static void reduceTo(const LocalExchange &exchange) {
  int root = exchange.collective.root;
  reduce(exchange, share(exchange.count(), exchange.members, exchange.self),
         [&](int64_t at, const void *values, size_t bytes) {
           store(exchange, root, exchange.destination(root) + at, values, bytes);
         });
}

/// Member m's result of a reduce-scatter is block m of the sum; `range` counts within the block.
static void reduceBlock(const LocalExchange &exchange, int member, Range range) {
  int64_t block = exchange.count() / exchange.members;
  int64_t offset = block * member, bytesBefore = offset * bytesOf(exchange.collective.type);
  char *destination = exchange.destination(member);
  reduce(exchange, {offset + range.begin, offset + range.end},
         [&](int64_t at, const void *values, size_t bytes) {
           store(exchange, member, destination + (at - bytesBefore), values, bytes);
         });
}

/// Exchanges block j of member `self` with block `self` of member j; each pair is done by one of the two.
static void exchangeBlocks(const LocalExchange &exchange, int other) {
  int64_t block = exchange.count() / exchange.members * bytesOf(exchange.collective.type);
  const char *ownSource = exchange.source(exchange.self) + block * other;
  const char *otherSource = exchange.source(other) + block * exchange.self;
  char *ownDestination = exchange.destination(exchange.self) + block * other;
  char *otherDestination = exchange.destination(other) + block * exchange.self;
  char saved[chunkBytes];
  for (int64_t begin = 0; begin < block; begin += chunkBytes) {
    int64_t bytes = std::min(chunkBytes, block - begin);
    std::memcpy(saved, ownSource + begin, size_t(bytes));
    copy(ownDestination + begin, otherSource + begin, bytes);
    std::memcpy(otherDestination + begin, saved, size_t(bytes));
    *exchange.moved += 2 * uint64_t(bytes);
  }
}

static void allToAll(const LocalExchange &exchange) {
  int64_t block = exchange.count() / exchange.members * bytesOf(exchange.collective.type);
  copy(exchange.destination(exchange.self) + block * exchange.self,
       exchange.source(exchange.self) + block * exchange.self, block);
  for (int other = 0; other < exchange.members; ++other) {
    bool even = (exchange.self + other) % 2 == 0;
    if (other != exchange.self && (exchange.self < other) == even)
      exchangeBlocks(exchange, other);
  }
}

/// Bytes `begin` … of every destination along the chain or cycle that ends at member `last`, latest receiver
/// first, so that a source that is a destination too is read before it is overwritten.
static void permuteChain(const LocalExchange &exchange, int last, bool cycle, int64_t begin, int64_t bytes) {
  char saved[chunkBytes];
  if (cycle)
    std::memcpy(saved, exchange.source(last) + begin, size_t(bytes));
  int target = last;
  while (true) {
    int sender = senderOf(exchange.collective, target);
    if (sender < 0) {
      std::memset(exchange.destination(target) + begin, 0, size_t(bytes));
      return;
    }
    if (cycle && sender == last) {
      move(exchange, target, exchange.destination(target) + begin, sender, saved, bytes);
      return;
    }
    move(exchange, target, exchange.destination(target) + begin, sender, exchange.source(sender) + begin,
         bytes);
    target = sender;
  }
}

/// Smallest member of the cycle through `member`, or -1 when it lies on a chain.
static int cycleOf(const Collective &collective, int member) {
  int smallest = member;
  for (int next = collective.permutation[member]; next != member; next = collective.permutation[next]) {
    if (next < 0)
      return -1;
    smallest = std::min(smallest, next);
  }
  return smallest;
}

static void permute(const LocalExchange &exchange) {
  int64_t size = bytesOf(exchange.collective.type);
  Range range = share(exchange.count(), exchange.members, exchange.self);
  for (int64_t begin = range.begin * size; begin < range.end * size; begin += chunkBytes) {
    int64_t bytes = std::min(chunkBytes, range.end * size - begin);
    for (int member = 0; member < exchange.members; ++member) {
      if (exchange.collective.permutation[member] < 0)
        permuteChain(exchange, member, false, begin, bytes);
      else if (cycleOf(exchange.collective, member) == member)
        permuteChain(exchange, member, true, begin, bytes);
    }
  }
}

bool needsSecond(const LocalExchange &exchange) {
  int root = exchange.collective.root;
  switch (exchange.collective.kind) {
  case Kind::reduce_scatter:
  case Kind::all_gather:
    for (int member = 0; member < exchange.members; ++member)
      if (exchange.source(member) == exchange.destination(member))
        return true;
    return false;
  case Kind::gather:
  case Kind::scatter:
    return exchange.source(root) == exchange.destination(root);
  default:
    return false;
  }
}

/// In place, every member's source lies in block 0 of its destination, so that block is written last.
static void allGather(const LocalExchange &exchange, bool second) {
  int64_t bytes = exchange.count() * bytesOf(exchange.collective.type);
  for (int member = second ? 1 : 0; member < exchange.members; ++member)
    move(exchange, exchange.self, exchange.destination(exchange.self) + bytes * member, member,
         exchange.source(member), bytes);
}

static void gather(const LocalExchange &exchange, bool second) {
  int64_t bytes = exchange.count() * bytesOf(exchange.collective.type);
  if (!second || exchange.self > 0)
    move(exchange, exchange.collective.root,
         exchange.destination(exchange.collective.root) + bytes * exchange.self, exchange.self,
         exchange.source(exchange.self), bytes);
}

static void scatterTo(const LocalExchange &exchange) {
  int64_t block = exchange.count() / exchange.members * bytesOf(exchange.collective.type);
  int root = exchange.collective.root;
  move(exchange, exchange.self, exchange.destination(exchange.self), root,
       exchange.source(root) + block * exchange.self, block);
}

/// In place, every result lies in block 0 of its source, and block 0 of all sources goes to member 0 only:
/// first all members together make member 0's result, then every other member its own.
static void reduceScatter(const LocalExchange &exchange, bool second) {
  int64_t block = exchange.count() / exchange.members;
  if (second)
    reduceBlock(exchange, 0, share(block, exchange.members, exchange.self));
  else
    reduceBlock(exchange, exchange.self, {0, block});
}

void moveFirst(const LocalExchange &exchange, bool second) {
  const Collective &collective = exchange.collective;
  switch (collective.kind) {
  case Kind::all_reduce:
    return allReduce(exchange);
  case Kind::reduce_to:
    return reduceTo(exchange);
  case Kind::reduce_scatter:
    return reduceScatter(exchange, second);
  case Kind::all_gather:
    return allGather(exchange, second);
  case Kind::all_to_all:
    return allToAll(exchange);
  case Kind::permute:
    return permute(exchange);
  case Kind::gather:
    return gather(exchange, second);
  case Kind::collective_broadcast:
    return move(exchange, exchange.self, exchange.destination(exchange.self), collective.root,
                exchange.source(collective.root), exchange.count() * bytesOf(collective.type));
  case Kind::scatter:
    if (!second || exchange.self != collective.root)
      scatterTo(exchange);
    return;
  }
}

void moveSecond(const LocalExchange &exchange) {
  int self = exchange.self, root = exchange.collective.root;
  int64_t bytes = exchange.count() * bytesOf(exchange.collective.type);
  switch (exchange.collective.kind) {
  case Kind::reduce_scatter:
    if (self != 0)
      reduceBlock(exchange, self, {0, exchange.count() / exchange.members});
    return;
  case Kind::all_gather:
    return move(exchange, self, exchange.destination(self), 0, exchange.source(0), bytes);
  case Kind::gather:
    if (self == 0)
      move(exchange, root, exchange.destination(root), 0, exchange.source(0), bytes);
    return;
  case Kind::scatter:
    if (self == root)
      scatterTo(exchange);
    return;
  default:
    return;
  }
}

} // namespace par::comm
