#include "comm/message/MessageCollectives.h"

#include "comm/Reduce.h"

#include <algorithm>
#include <cstring>

namespace par::comm {

/// All slots together have 16 MiB at most, until the members outnumber them.
static int64_t slotBytesOf(int members) {
  return std::clamp<int64_t>((16 << 20) / members / 64 * 64, 16 << 10, 256 << 10);
}

void MessageCollectives::reserve(int members) {
  size_t needed = size_t(members) * size_t(slotBytesOf(members));
  if (members < 2 || scratch.size() >= needed)
    return;
  scratch.resize(needed);
  sends.reserve(size_t(members));
  receives.reserve(size_t(members));
}

void MessageCollectives::enter(Group &entered, const Collective *what) {
  group = &entered, collective = what;
  n = entered.size(), self = entered.member();
  slotBytes = slotBytesOf(n);
}

void MessageCollectives::send(int member, const void *data, int64_t bytes) {
  if (bytes > 0)
    sends.push_back({member, const_cast<void *>(data), bytes});
}

void MessageCollectives::receive(int member, void *data, int64_t bytes) {
  if (bytes > 0)
    receives.push_back({member, data, bytes});
}

io::Status MessageCollectives::flush() {
  io::Status status = messages.exchange(*group, sends, receives);
  sends.clear();
  receives.clear();
  return status;
}

static void copy(char *destination, const char *source, int64_t bytes) {
  if (destination != source && bytes > 0)
    std::memcpy(destination, source, size_t(bytes));
}

namespace {
/// What neighbours compare before they exchange data.
struct Fingerprint {
  uint64_t kind, hash;
};
} // namespace

static Fingerprint fingerprintOf(const Collective &collective) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3u;
    hash ^= hash >> 29;
  };
  mix(uint64_t(collective.kind));
  mix(uint64_t(collective.op));
  mix(uint64_t(collective.type));
  mix(uint64_t(collective.root));
  for (int64_t count : collective.counts)
    mix(uint64_t(count));
  for (int target : collective.permutation)
    mix(uint64_t(target + 1));
  return {uint64_t(collective.kind), hash};
}

/// Members that run different collectives would wait for ever, or take each other's data for theirs.
io::Status MessageCollectives::checkNeighbours() {
  if (n == 1)
    return {};
  Fingerprint own = fingerprintOf(*collective), other{};
  int before = (self + n - 1) % n;
  send((self + 1) % n, &own, sizeof(own));
  receive(before, &other, sizeof(other));
  PAR_TRY(flush());
  if (own.hash == other.hash)
    return {};
  return io::Status::error("rank " + std::to_string(rank) + " is in " + nameOf(collective->kind) +
                           " while rank " + std::to_string(group->members()[size_t(before)]) +
                           " is in another " + nameOf(Kind(other.kind % 9)) + " of the same group");
}

io::Status MessageCollectives::run(Group &g, const Collective &c, void *const *buffers) {
  enter(g, &c);
  PAR_TRY(checkNeighbours());
  size_t tensors = c.counts.size();
  for (size_t t = 0; t < tensors; ++t)
    PAR_TRY(runTensor({static_cast<const char *>(buffers[t]), static_cast<char *>(buffers[tensors + t]),
                       c.counts[t] * bytesOf(c.type)}));
  return {};
}

/// Dissemination: after round k a member knows of the 2^k members before it.
io::Status MessageCollectives::barrier(Group &g) {
  enter(g, nullptr);
  for (int distance = 1; distance < n; distance *= 2) {
    char out = 1, in = 0;
    send((self + distance) % n, &out, 1);
    receive((self + n - distance) % n, &in, 1);
    PAR_TRY(flush());
  }
  return {};
}

io::Status MessageCollectives::runTensor(const Tensor &tensor) {
  if (n == 1)
    return alone(tensor);
  switch (collective->kind) {
  case Kind::all_reduce:
    return tensor.bytes <= 4096 ? allReduceSmall(tensor) : allReduce(tensor);
  case Kind::reduce_scatter:
    return reduceScatter(tensor);
  case Kind::reduce_to:
    return reduceTo(tensor);
  case Kind::all_gather:
    return allGather(tensor);
  case Kind::all_to_all:
    return allToAll(tensor);
  case Kind::collective_broadcast:
    return broadcast(tensor);
  case Kind::gather:
    return gather(tensor);
  case Kind::scatter:
    return scatter(tensor);
  case Kind::permute:
    return permute(tensor);
  }
  return {};
}

io::Status MessageCollectives::alone(const Tensor &tensor) {
  if (collective->kind == Kind::permute && collective->permutation[0] < 0)
    std::memset(tensor.destination, 0, size_t(tensor.bytes));
  else
    copy(tensor.destination, tensor.source, tensor.bytes);
  return {};
}

void MessageCollectives::reduceSlots(const char *own, int64_t bytes, char *out) {
  Accumulator accumulator(collective->op, collective->type);
  int64_t size = bytesOf(collective->type);
  for (int64_t begin = 0; begin < bytes; begin += Accumulator::chunk * size) {
    int64_t part = std::min(Accumulator::chunk * size, bytes - begin);
    for (int member = 0; member < n; ++member) {
      const char *values = (member == self ? own : slot(member)) + begin;
      if (member == 0)
        accumulator.start(values, part / size);
      else
        accumulator.add(values, part / size);
    }
    std::memcpy(out + begin, accumulator.finish(part / size), size_t(part));
  }
}

/// Everyone gets everything and adds it up: one exchange, for tensors whose cost is latency.
io::Status MessageCollectives::allReduceSmall(const Tensor &tensor) {
  for (int member = 0; member < n; ++member) {
    if (member == self)
      continue;
    send(member, tensor.source, tensor.bytes);
    receive(member, slot(member), tensor.bytes);
  }
  PAR_TRY(flush());
  reduceSlots(tensor.source, tensor.bytes, tensor.destination);
  return {};
}

/// Member m reduces share m of the tensor and hands it to the others, in pieces that fit the slots. In place,
/// a piece is overwritten only after it was sent, because an exchange ends with its sends.
io::Status MessageCollectives::allReduce(const Tensor &tensor) {
  constexpr int64_t unit = 64; // shares are cut at cache lines
  int64_t share = ((tensor.bytes + n - 1) / n + unit - 1) / unit * unit;
  auto begin = [&](int member) { return std::min(tensor.bytes, share * member); };
  auto piece = [&](int member, int64_t at) {
    return std::clamp<int64_t>(begin(member + 1) - begin(member) - at, 0, slotBytes);
  };
  for (int64_t at = 0; at < share; at += slotBytes) {
    int64_t own = begin(self) + at, ownBytes = piece(self, at);
    for (int member = 0; member < n; ++member) {
      if (member == self)
        continue;
      send(member, tensor.source + begin(member) + at, piece(member, at));
      receive(member, slot(member), ownBytes);
    }
    PAR_TRY(flush());
    reduceSlots(tensor.source + own, ownBytes, tensor.destination + own);
    for (int member = 0; member < n; ++member) {
      if (member == self)
        continue;
      send(member, tensor.destination + own, ownBytes);
      receive(member, tensor.destination + begin(member) + at, piece(member, at));
    }
    PAR_TRY(flush());
  }
  return {};
}

/// In place, results lie in block 0 of the source, whose pieces go to member 0 in the exchange before they
/// are overwritten.
io::Status MessageCollectives::reduceScatter(const Tensor &tensor) {
  int64_t block = tensor.bytes / n;
  for (int64_t at = 0; at < block; at += slotBytes) {
    int64_t bytes = std::min(slotBytes, block - at);
    for (int member = 0; member < n; ++member) {
      if (member == self)
        continue;
      send(member, tensor.source + block * member + at, bytes);
      receive(member, slot(member), bytes);
    }
    PAR_TRY(flush());
    reduceSlots(tensor.source + block * self + at, bytes, tensor.destination + at);
  }
  return {};
}

io::Status MessageCollectives::reduceTo(const Tensor &tensor) {
  for (int64_t at = 0; at < tensor.bytes; at += slotBytes) {
    int64_t bytes = std::min(slotBytes, tensor.bytes - at);
    if (self != collective->root)
      send(collective->root, tensor.source + at, bytes);
    else
      for (int member = 0; member < n; ++member)
        if (member != self)
          receive(member, slot(member), bytes);
    PAR_TRY(flush());
    if (self == collective->root)
      reduceSlots(tensor.source + at, bytes, tensor.destination + at);
  }
  return {};
}

/// In place, the source lies in block 0 of the destination and moves to its own block first.
io::Status MessageCollectives::allGather(const Tensor &tensor) {
  char *own = tensor.destination + tensor.bytes * self;
  copy(own, tensor.source, tensor.bytes);
  for (int member = 0; member < n; ++member) {
    if (member == self)
      continue;
    send(member, own, tensor.bytes);
    receive(member, tensor.destination + tensor.bytes * member, tensor.bytes);
  }
  return flush();
}

/// In place, what is sent is copied aside first, piece by piece.
io::Status MessageCollectives::allToAll(const Tensor &tensor) {
  int64_t block = tensor.bytes / n, step = tensor.inPlace() ? slotBytes : std::max<int64_t>(block, 1);
  copy(tensor.destination + block * self, tensor.source + block * self, block);
  for (int64_t at = 0; at < block; at += step) {
    int64_t bytes = std::min(step, block - at);
    for (int member = 0; member < n; ++member) {
      if (member == self)
        continue;
      const char *out = tensor.source + block * member + at;
      if (tensor.inPlace()) {
        copy(slot(member), out, bytes);
        out = slot(member);
      }
      send(member, out, bytes);
      receive(member, tensor.destination + block * member + at, bytes);
    }
    PAR_TRY(flush());
  }
  return {};
}

/// A binomial tree over the members counted from the root.
io::Status MessageCollectives::broadcast(const Tensor &tensor) {
  int place = (self + n - collective->root) % n, below = 1;
  if (place == 0) {
    copy(tensor.destination, tensor.source, tensor.bytes);
    while (below < n)
      below *= 2;
  } else {
    below = place & -place;
    receive((place - below + collective->root) % n, tensor.destination, tensor.bytes);
    PAR_TRY(flush());
  }
  while ((below /= 2) > 0)
    if (place + below < n)
      send((place + below + collective->root) % n, tensor.destination, tensor.bytes);
  return flush();
}

io::Status MessageCollectives::gather(const Tensor &tensor) {
  if (self != collective->root) {
    send(collective->root, tensor.source, tensor.bytes);
    return flush();
  }
  copy(tensor.destination + tensor.bytes * self, tensor.source, tensor.bytes);
  for (int member = 0; member < n; ++member)
    if (member != self)
      receive(member, tensor.destination + tensor.bytes * member, tensor.bytes);
  return flush();
}

io::Status MessageCollectives::scatter(const Tensor &tensor) {
  int64_t block = tensor.bytes / n;
  if (self != collective->root) {
    receive(collective->root, tensor.destination, block);
    return flush();
  }
  for (int member = 0; member < n; ++member)
    if (member != self)
      send(member, tensor.source + block * member, block);
  PAR_TRY(flush()); // in place, block 0 is overwritten below
  copy(tensor.destination, tensor.source + block * self, block);
  return {};
}

io::Status MessageCollectives::permute(const Tensor &tensor) {
  int target = collective->permutation[size_t(self)], sender = senderOf(*collective, self);
  if (target == self) {
    copy(tensor.destination, tensor.source, tensor.bytes);
    return {};
  }
  bool aside = tensor.inPlace() && target >= 0 && sender >= 0;
  int64_t step = slotBytes; // the same for all members: they do not know who works in place
  for (int64_t at = 0; at < tensor.bytes; at += step) {
    int64_t bytes = std::min(step, tensor.bytes - at);
    const char *out = tensor.source + at;
    if (aside) {
      copy(slot(0), out, bytes);
      out = slot(0);
    }
    if (target >= 0)
      send(target, out, bytes);
    if (sender >= 0)
      receive(sender, tensor.destination + at, bytes);
    PAR_TRY(flush());
    if (sender < 0)
      std::memset(tensor.destination + at, 0, size_t(bytes));
  }
  return {};
}

} // namespace par::comm
