#include "comm/local/LocalDevices.h"

#include <algorithm>
#include <vector>

namespace par::comm {

using device::Address;

static device::Element elementOf(Type type) {
  return type == Type::f32   ? device::Element::f32
         : type == Type::i32 ? device::Element::i32
         : type == Type::i64 ? device::Element::i64
                             : device::Element::bf16; // problemOf refuses sums of i1
}

static device::Combination combinationOf(Op op) {
  return op == Op::sum   ? device::Combination::sum
         : op == Op::max ? device::Combination::max
                         : device::Combination::min;
}

/// Whether a member's destinations have a result at all.
static bool receives(const Collective &collective, int member) {
  bool toRoot = collective.kind == Kind::reduce_to || collective.kind == Kind::gather;
  return !toRoot || member == collective.root;
}

/// Those that read only what lies where they write, or where nobody writes, need no memory of their own.
static bool readsWhatOthersWrite(Kind kind) {
  return kind != Kind::all_reduce && kind != Kind::reduce_to && kind != Kind::collective_broadcast;
}

void roomOf(const Collective &collective, int members, int64_t &elements, int64_t &bytes) {
  elements = bytes = 0;
  bool reduces = collective.kind == Kind::all_reduce || collective.kind == Kind::reduce_to ||
                 collective.kind == Kind::reduce_scatter;
  for (int64_t count : collective.counts) {
    if (reduces)
      elements = std::max(elements, count);
    if (readsWhatOthersWrite(collective.kind))
      bytes += destinationCount(collective.kind, count, members) * bytesOf(collective.type);
  }
}

bool isStaged(const DeviceExchange &exchange) {
  size_t tensors = exchange.collective.counts.size();
  for (int member = 0; member < exchange.members && readsWhatOthersWrite(exchange.collective.kind); ++member)
    for (size_t tensor = 0; tensor < tensors; ++tensor) {
      const Address *buffers = exchange.posts[member].buffers;
      if (receives(exchange.collective, member) && buffers[tensor] == buffers[tensors + tensor])
        return true;
    }
  return false;
}

namespace {
/// A tensor of a collective, as this member sees it.
class Mover {
public:
  Mover(const DeviceExchange &exchange, size_t tensor, Address to)
      : exchange(exchange), what(exchange.collective), tensor(tensor), to(to), count(what.counts[tensor]),
        size(bytesOf(what.type)), members(exchange.members), self(exchange.self) {}

  io::Status move() {
    int64_t block = count / members;
    switch (what.kind) {
    case Kind::all_reduce:
      return allReduce();
    case Kind::reduce_to:
      return self == what.root ? combine(0, count, {to}) : io::Status();
    case Kind::reduce_scatter:
      return combine(self * block, block, {to});
    case Kind::all_gather:
      return takeFromAll(0, count);
    case Kind::all_to_all:
      return takeFromAll(self * block, block);
    case Kind::gather:
      return self == what.root ? takeFromAll(0, count) : io::Status();
    case Kind::collective_broadcast:
      return copy(to, source(what.root), count);
    case Kind::scatter:
      return copy(to, source(what.root) + self * block * size, block);
    case Kind::permute:
      return permute();
    }
    return {};
  }

private:
  Address source(int member) const { return exchange.posts[member].buffers[tensor]; }
  Address destination(int member) const {
    return exchange.posts[member].buffers[what.counts.size() + tensor];
  }

  io::Status copy(Address target, Address from, int64_t elements) {
    if (elements > 0 && target != from)
      exchange.device.copy(exchange.queue, target, from, size_t(elements * size));
    return {};
  }

  /// Of elements from `first` on of all sources, in member order.
  io::Status combine(int64_t first, int64_t elements, std::vector<Address> targets) {
    std::vector<Address> sources;
    for (int member = 0; member < members; ++member)
      sources.push_back(source(member) + first * size);
    return exchange.device.accelerator()->combine(exchange.queue, combinationOf(what.op),
                                                  elementOf(what.type), sources.data(), sources.size(),
                                                  targets.data(), targets.size(), elements);
  }

  /// This member's share of everyone's result. Shares are cut at 256 bytes and more.
  io::Status allReduce() {
    constexpr int64_t line = 128;
    int64_t lines = (count + line - 1) / line;
    int64_t first = std::min(count, lines * self / members * line);
    int64_t last = std::min(count, lines * (self + 1) / members * line);
    std::vector<Address> targets;
    for (int member = 0; member < members; ++member)
      targets.push_back(destination(member) + first * size);
    return combine(first, last - first, targets);
  }

  /// A block of every source, one behind the other.
  io::Status takeFromAll(int64_t first, int64_t elements) {
    for (int member = 0; member < members; ++member)
      PAR_TRY(copy(to + member * elements * size, source(member) + first * size, elements));
    return {};
  }

  io::Status permute() {
    int sender = senderOf(what, self);
    if (sender >= 0)
      return copy(to, source(sender), count);
    return count ? exchange.device.accelerator()->clear(exchange.queue, to, size_t(count * size))
                 : io::Status();
  }

  const DeviceExchange &exchange;
  const Collective &what;
  const size_t tensor;
  const Address to;
  const int64_t count, size;
  const int members, self;
};
} // namespace

/// Calls `each(tensor, its place in the room, bytes of its result)`.
template <typename Each>
static io::Status forTensors(const DeviceExchange &exchange, Each each) {
  const Collective &what = exchange.collective;
  Address room = exchange.device.accelerator()->room();
  for (size_t tensor = 0; tensor < what.counts.size(); ++tensor) {
    int64_t bytes = destinationCount(what.kind, what.counts[tensor], exchange.members) * bytesOf(what.type);
    PAR_TRY(each(tensor, room, bytes));
    room = room + bytes;
  }
  return {};
}

io::Status moveOnDevice(const DeviceExchange &exchange) {
  bool staged = isStaged(exchange);
  size_t tensors = exchange.collective.counts.size();
  return forTensors(exchange, [&](size_t tensor, Address room, int64_t) {
    Address place = exchange.posts[exchange.self].buffers[tensors + tensor];
    return Mover(exchange, tensor, staged ? room : place).move();
  });
}

io::Status unstage(const DeviceExchange &exchange) {
  size_t tensors = exchange.collective.counts.size();
  if (!receives(exchange.collective, exchange.self))
    return {};
  return forTensors(exchange, [&](size_t tensor, Address room, int64_t bytes) {
    if (bytes > 0)
      exchange.device.copy(exchange.queue, exchange.posts[exchange.self].buffers[tensors + tensor], room,
                           size_t(bytes));
    return io::Status();
  });
}

} // namespace par::comm
