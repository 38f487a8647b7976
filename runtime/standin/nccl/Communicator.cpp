#include "standin/nccl/Communicator.h"

#include "comm/Reduce.h"
#include "standin/nccl/Driver.h"
#include "standin/nccl/Processes.h"

#include <algorithm>
#include <unistd.h>

namespace par::standin {

using namespace nccl;

const char *nameOf(Call call) {
  static const char *const names[] = {"ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclBroadcast",
                                      "ncclReduce",    "ncclSend",          "ncclRecv"};
  return names[int(call)];
}

uint64_t bytesOf(int type) {
  return type == ncclUint8 ? 1 : type == ncclBfloat16 ? 2 : type == ncclInt64 ? 8 : 4;
}

static comm::Type typeOf(int type) {
  return type == ncclInt32      ? comm::Type::i32
         : type == ncclInt64    ? comm::Type::i64
         : type == ncclBfloat16 ? comm::Type::bf16
         : type == ncclUint8    ? comm::Type::i1
                                : comm::Type::f32;
}

static comm::Op operationOf(int op) {
  return op == ncclSum ? comm::Op::sum : op == ncclMax ? comm::Op::max : comm::Op::min;
}

Communicator::Communicator(const std::string &name, int size, int rank, int device)
    : name(name), size(size), rank(rank), device(device), file(name), sends(size_t(size)),
      receives(size_t(size)) {
  if (!file)
    return;
  file.member(rank).device = device;
  file.member(rank).pid = getpid();
}

/// Two members on one GPU are refused, as NCCL does it.
bool Communicator::isComplete() {
  for (int i = 0; i < size && !complete; ++i)
    if (!file.member(i).pid)
      return false;
  if (complete)
    return true;
  complete = true;
  if (rank == 0)
    file.forgetName();
  for (int i = 0; i < size; ++i)
    if (i != rank && file.member(i).device == device) {
      reportNccl("duplicate GPU: ranks " + std::to_string(std::min(i, rank)) + " and " +
                 std::to_string(std::max(i, rank)) + " of a communicator both have GPU " +
                 std::to_string(device));
      error = ncclInvalidUsage;
    }
  return true;
}

int Communicator::firstGone() const {
  for (int i = 0; i < size; ++i)
    if (int pid = file.member(i).pid; pid && !isAlive(pid))
      return i;
  return -1;
}

std::string Part::text() const {
  return std::string(nameOf(call)) + " of " + std::to_string(count) + " x " + std::to_string(bytesOf(type)) +
         " bytes on a communicator of " + std::to_string(comm->size) +
         (isCollective() ? "" : ", rank " + std::to_string(root));
}

static char *reach(par_standin_operation *operation, uint64_t address, uint64_t bytes, int kind) {
  static auto *function = ofDriver<decltype(par_standin_reach)>("par_standin_reach");
  return function(operation, address, bytes, kind);
}
constexpr int moving = 0, computing = 1, writing = 2; ///< kinds of par_standin_reach

static bool reduces(Call call) {
  return call == Call::allReduce || call == Call::reduceScatter || call == Call::reduce;
}

int RunningPart::advance(par_standin_operation *operation) {
  if (part.comm->aborted) {
    done = true;
    return par_standin_moved;
  }
  if (part.call == Call::send)
    return advanceSend(operation);
  if (part.call == Call::receive)
    return advanceReceive(operation);
  return posted ? leave(operation) : enter(operation);
}

/// Members whose last call this one is still behind, or who have not come to it.
std::vector<int> RunningPart::missing() const {
  std::vector<int> all;
  for (int i = 0; i < part.comm->size; ++i) {
    const SharedMember &member = part.comm->file.member(i);
    if (posted ? member.posted < number : member.taken + 1 < number)
      all.push_back(i);
  }
  return all;
}

/// Gives its source, once the others have done with the one before.
int RunningPart::enter(par_standin_operation *operation) {
  Communicator &comm = *part.comm;
  if (number == 0)
    number = ++comm.calls;
  if (!missing().empty())
    return par_standin_waits;
  uint64_t bytes = part.count * bytesOf(part.type);
  if (part.call == Call::reduceScatter)
    bytes *= uint64_t(comm.size);
  if (part.call != Call::broadcast || comm.rank == part.root) {
    const char *source = reach(operation, part.from, bytes, reduces(part.call) ? computing : moving);
    if (!source)
      return par_standin_failed;
    comm.file.give(comm.rank, source, bytes);
  }
  SharedMember &own = comm.file.member(comm.rank);
  own.call = {int32_t(part.call), part.type, part.op, part.root, part.count};
  own.posted = number;
  posted = true;
  return par_standin_moved;
}

bool RunningPart::isSame(int member) const {
  const CallOfMember &other = part.comm->file.member(member).call;
  return other.kind == int32_t(part.call) && other.type == part.type && other.op == part.op &&
         other.root == part.root && other.count == part.count;
}

int RunningPart::leave(par_standin_operation *operation) {
  Communicator &comm = *part.comm;
  if (!missing().empty())
    return par_standin_waits;
  for (int i = 0; i < comm.size; ++i)
    if (!isSame(i)) {
      const CallOfMember &other = comm.file.member(i).call;
      reportNccl("call " + std::to_string(number) + ": rank " + std::to_string(comm.rank) + " is in " +
                 part.text() + ", rank " + std::to_string(i) + " in " + nameOf(Call(other.kind)) + " of " +
                 std::to_string(other.count) + " x " + std::to_string(bytesOf(other.type)) + " bytes");
      return par_standin_failed;
    }
  int result = reduces(part.call) ? combine(operation) : collect(operation);
  comm.file.member(comm.rank).taken = number;
  done = true;
  return result;
}

/// In the order of members: the same bits as between ranks of one process. NCCL's order is its own.
int RunningPart::combine(par_standin_operation *operation) {
  const Communicator &comm = *part.comm;
  if (part.call == Call::reduce && comm.rank != part.root)
    return par_standin_moved;
  uint64_t size = bytesOf(part.type), begin = 0;
  if (part.call == Call::reduceScatter)
    begin = part.count * size * uint64_t(comm.rank);
  char *target = reach(operation, part.to, part.count * size, writing);
  if (!target)
    return par_standin_failed;
  comm::Accumulator accumulator(operationOf(part.op), typeOf(part.type));
  std::vector<char> piece(size_t(comm::Accumulator::chunk) * size);
  for (uint64_t at = 0; at < part.count; at += uint64_t(comm::Accumulator::chunk)) {
    auto elements = int64_t(std::min(part.count - at, uint64_t(comm::Accumulator::chunk)));
    uint64_t bytes = uint64_t(elements) * size;
    for (int member = 0; member < comm.size; ++member) {
      comm.file.take(member, begin + at * size, piece.data(), bytes);
      member == 0 ? accumulator.start(piece.data(), elements) : accumulator.add(piece.data(), elements);
    }
    const auto *sum = static_cast<const char *>(accumulator.finish(elements));
    std::copy(sum, sum + bytes, target + at * size);
  }
  return par_standin_moved;
}

int RunningPart::collect(par_standin_operation *operation) {
  const Communicator &comm = *part.comm;
  uint64_t bytes = part.count * bytesOf(part.type);
  bool all = part.call == Call::allGather;
  char *target = reach(operation, part.to, all ? bytes * uint64_t(comm.size) : bytes, writing);
  if (!target)
    return par_standin_failed;
  for (int member = 0; member < comm.size; ++member)
    if (all || member == part.root)
      comm.file.take(member, 0, all ? target + bytes * uint64_t(member) : target, bytes);
  return par_standin_moved;
}

int RunningPart::advanceSend(par_standin_operation *operation) {
  Communicator &comm = *part.comm;
  SharedChannel &channel = comm.file.channel(comm.rank, part.root);
  if (number == 0)
    number = ++comm.sends[size_t(part.root)];
  if (posted) {
    done = channel.received >= number;
    return done ? par_standin_moved : par_standin_waits;
  }
  if (channel.received + 1 < number)
    return par_standin_waits;
  uint64_t bytes = part.count * bytesOf(part.type);
  const char *source = reach(operation, part.from, bytes, moving);
  if (!source)
    return par_standin_failed;
  comm.file.send(comm.rank, part.root, source, bytes);
  channel.bytes = bytes;
  channel.sent = number;
  posted = true;
  return par_standin_moved;
}

int RunningPart::advanceReceive(par_standin_operation *operation) {
  Communicator &comm = *part.comm;
  SharedChannel &channel = comm.file.channel(part.root, comm.rank);
  if (number == 0)
    number = ++comm.receives[size_t(part.root)];
  posted = true;
  if (channel.sent < number)
    return par_standin_waits;
  uint64_t bytes = part.count * bytesOf(part.type);
  if (channel.bytes != bytes) {
    reportNccl("rank " + std::to_string(part.root) + " sends " + std::to_string(channel.bytes) +
               " bytes to rank " + std::to_string(comm.rank) + ", which expects " + std::to_string(bytes));
    return par_standin_failed;
  }
  char *target = reach(operation, part.to, bytes, writing);
  if (!target)
    return par_standin_failed;
  comm.file.receive(part.root, comm.rank, target, bytes);
  channel.received = number;
  done = true;
  return par_standin_moved;
}

void RunningPart::addAwaited(std::set<int> &pids) const {
  if (!part.isCollective())
    pids.insert(part.comm->file.member(part.root).pid);
  else
    for (int member : missing())
      pids.insert(part.comm->file.member(member).pid);
}

std::string RunningPart::text() const {
  std::string ranks;
  if (part.isCollective())
    for (int member : missing())
      ranks += " " + std::to_string(member);
  return part.text() + (number ? ", call " + std::to_string(number) : "") +
         (ranks.empty() ? "" : ", waits for rank" + ranks);
}

} // namespace par::standin
