#include "comm/nccl/NcclCollectives.h"

namespace par::nccl {

using comm::Collective;
using comm::Kind;
using device::Address;

static ncclDataType_t typeOf(comm::Type type) {
  switch (type) {
  case comm::Type::f32:
    return ncclFloat32;
  case comm::Type::i32:
    return ncclInt32;
  case comm::Type::i64:
    return ncclInt64;
  case comm::Type::bf16:
    return ncclBfloat16;
  case comm::Type::i1:
    return ncclUint8;
  }
  return ncclUint8;
}

static ncclRedOp_t operationOf(comm::Op op) {
  return op == comm::Op::sum ? ncclSum : op == comm::Op::max ? ncclMax : ncclMin;
}

static void *pointerTo(Address address) { return reinterpret_cast<void *>(address.value); }

/// NCCL has these as messages; in place, what comes would overwrite what still goes.
static bool isExchange(Kind kind) { return kind == Kind::all_to_all || kind == Kind::permute; }

int64_t roomOf(const Collective &collective) {
  int64_t elements = 0;
  for (int64_t count : collective.counts)
    elements += isExchange(collective.kind) ? count : 0;
  return elements * comm::bytesOf(collective.type);
}

namespace {
/// One tensor of a collective. Its parts are enqueued in three steps; all calls of NCCL of all tensors are
/// one group.
class Tensor {
public:
  Tensor(const NcclExchange &exchange, size_t number, Address room)
      : exchange(exchange), nccl(exchange.nccl), what(exchange.collective), count(what.counts[number]),
        size(comm::bytesOf(what.type)), members(exchange.members), self(exchange.self),
        source(exchange.buffers[number]), destination(exchange.buffers[what.counts.size() + number]),
        inPlace(source == destination), block(count / members), room(room),
        sender(what.kind == Kind::permute ? senderOf(what, self) : -1),
        target(what.kind == Kind::permute ? what.permutation[size_t(self)] : -1) {}

  /// Own parts to where NCCL wants them.
  void before() const {
    if (what.kind == Kind::all_gather && inPlace)
      copy(at(destination, self, count), source, count);
    if (what.kind == Kind::gather && self == what.root)
      copy(at(destination, self, count), source, count);
  }

  io::Status call(ncclComm_t comm) const {
    ncclDataType_t type = typeOf(what.type);
    ncclRedOp_t op = operationOf(what.op);
    CUstream stream = exchange.queue.stream();
    void *from = pointerTo(source), *to = pointerTo(destination);
    switch (what.kind) {
    case Kind::all_reduce:
      PAR_NCCL(nccl, ncclAllReduce, from, to, size_t(count), type, op, comm, stream);
      return {};
    case Kind::reduce_scatter: // in place, NCCL leaves a result where its source was
      PAR_NCCL(nccl, ncclReduceScatter, from, inPlace ? pointerTo(at(source, self, block)) : to,
               size_t(block), type, op, comm, stream);
      return {};
    case Kind::all_gather:
      PAR_NCCL(nccl, ncclAllGather, inPlace ? pointerTo(at(destination, self, count)) : from, to,
               size_t(count), type, comm, stream);
      return {};
    case Kind::collective_broadcast:
      PAR_NCCL(nccl, ncclBroadcast, from, to, size_t(count), type, what.root, comm, stream);
      return {};
    case Kind::reduce_to:
      PAR_NCCL(nccl, ncclReduce, from, to, size_t(count), type, op, what.root, comm, stream);
      return {};
    default:
      return callMessages(comm);
    }
  }

  /// From where NCCL left it.
  io::Status after() const {
    if (what.kind == Kind::reduce_scatter && inPlace)
      copy(destination, at(source, self, block), block);
    if (what.kind == Kind::scatter && self == what.root)
      copy(destination, at(source, self, block), block);
    if (what.kind == Kind::all_to_all)
      for (int member = 0; member < members; ++member)
        if (member == self || inPlace)
          copy(at(destination, member, block), at(member == self ? source : room, member, block), block);
    return what.kind == Kind::permute ? endPermute() : io::Status();
  }

  /// The only member's.
  io::Status alone() const {
    if (what.kind == Kind::permute)
      return endPermute();
    copy(destination, source, count);
    return {};
  }

private:
  /// Block `number` of so many elements.
  Address at(Address begin, int number, int64_t elements) const { return begin + number * elements * size; }

  void copy(Address to, Address from, int64_t elements) const {
    if (elements > 0 && to != from)
      exchange.device.copy(exchange.queue, to, from, size_t(elements * size));
  }

  io::Status send(Address from, int64_t elements, int to, ncclComm_t comm) const {
    PAR_NCCL(nccl, ncclSend, pointerTo(from), size_t(elements), typeOf(what.type), to, comm,
             exchange.queue.stream());
    return {};
  }
  io::Status receive(Address to, int64_t elements, int from, ncclComm_t comm) const {
    PAR_NCCL(nccl, ncclRecv, pointerTo(to), size_t(elements), typeOf(what.type), from, comm,
             exchange.queue.stream());
    return {};
  }

  io::Status callMessages(ncclComm_t comm) const {
    if (what.kind == Kind::permute) {
      if (target >= 0 && target != self)
        PAR_TRY(send(source, count, target, comm));
      return sender >= 0 && sender != self ? receive(isStaged() ? room : destination, count, sender, comm)
                                           : io::Status();
    }
    for (int member = 0; member < members; ++member) {
      if (member == self)
        continue;
      bool sends = what.kind == Kind::all_to_all || (what.kind == Kind::gather ? member : self) == what.root;
      bool receives =
          what.kind == Kind::all_to_all || (what.kind == Kind::gather ? self : member) == what.root;
      if (sends)
        PAR_TRY(what.kind == Kind::gather ? send(source, count, member, comm)
                                          : send(at(source, member, block), block, member, comm));
      if (receives && what.kind == Kind::gather)
        PAR_TRY(receive(at(destination, member, count), count, member, comm));
      if (receives && what.kind == Kind::scatter)
        PAR_TRY(receive(destination, block, member, comm));
      if (receives && what.kind == Kind::all_to_all)
        PAR_TRY(receive(at(inPlace ? room : destination, member, block), block, member, comm));
    }
    return {};
  }

  /// A permute's result waits for what is sent from its place.
  bool isStaged() const { return inPlace && target >= 0; }

  io::Status endPermute() const {
    if (sender == self)
      copy(destination, source, count);
    else if (sender < 0 && count > 0)
      return exchange.device.clear(exchange.queue, destination, size_t(count * size));
    else if (isStaged())
      copy(destination, room, count);
    return {};
  }

  const NcclExchange &exchange;
  const Nccl &nccl;
  const Collective &what;
  const int64_t count, size;
  const int members, self;
  const Address source, destination;
  const bool inPlace;
  const int64_t block; ///< elements of a member's part
  const Address room;
  const int sender, target; ///< of a permute
};
} // namespace

io::Status enqueueCollective(const NcclExchange &exchange) {
  Address room = exchange.device.room();
  std::vector<Tensor> tensors;
  for (size_t number = 0; number < exchange.collective.counts.size(); ++number) {
    if (exchange.collective.counts[number] == 0)
      continue;
    tensors.emplace_back(exchange, number, room);
    room = room + exchange.collective.counts[number] * comm::bytesOf(exchange.collective.type);
  }
  if (exchange.members == 1) {
    for (const Tensor &tensor : tensors)
      PAR_TRY(tensor.alone());
    return {};
  }
  for (const Tensor &tensor : tensors)
    tensor.before();
  if (!tensors.empty())
    PAR_TRY(exchange.communicator->group([&](ncclComm_t comm) {
      for (const Tensor &tensor : tensors)
        PAR_TRY(tensor.call(comm));
      return io::Status();
    }));
  exchange.queue.waits({});
  for (const Tensor &tensor : tensors)
    PAR_TRY(tensor.after());
  return {};
}

} // namespace par::nccl
