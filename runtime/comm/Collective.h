/// What a collective is: the same description on every member of its group (docs/Package.md, "Collectives").
#ifndef PAR_COMM_COLLECTIVE_H
#define PAR_COMM_COLLECTIVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace par::comm {

/// The MPI or NCCL function that does the same is named beside each.
enum class Kind {
  all_reduce,           ///< MPI_Allreduce, ncclAllReduce
  reduce_scatter,       ///< MPI_Reduce_scatter_block, ncclReduceScatter
  all_gather,           ///< MPI_Allgather, ncclAllGather
  all_to_all,           ///< MPI_Alltoall
  collective_broadcast, ///< MPI_Bcast, ncclBroadcast
  reduce_to,            ///< MPI_Reduce, ncclReduce
  gather,               ///< MPI_Gather
  scatter,              ///< MPI_Scatter
  permute,              ///< MPI_Sendrecv, ncclSend and ncclRecv in a group
};
enum class Op { sum, max, min };
enum class Type { f32, i32, i64, bf16, i1 /**< a byte each, moved but never reduced */ };

struct Collective {
  Kind kind = Kind::all_reduce;
  Op op = Op::sum;
  Type type = Type::f32;
  std::vector<int64_t> counts;  ///< elements of the source, one entry per tensor
  int root = 0;                 ///< member number
  std::vector<int> permutation; ///< member i sends to member permutation[i]; -1 = sends nothing
};

/// "all_reduce" and so on; false if there is no such name.
bool parseKind(const std::string &text, Kind &kind);
bool parseOp(const std::string &text, Op &op);
bool parseType(const std::string &text, Type &type);
const char *nameOf(Kind kind);
int64_t bytesOf(Type type);

/// Whether two descriptions are the same collective.
bool sameCollective(const Collective &a, const Collective &b);

/// The member that sends to member `target` of a permute, or -1.
int senderOf(const Collective &collective, int target);

/// Empty, or what is wrong with the description for a group of `members`: counts that the members do not
/// divide, a root outside the group, a permutation with two senders for one member, a reduction of i1.
std::string problemOf(const Collective &collective, int members);

/// Elements of the destination of a tensor whose source has `count`.
int64_t destinationCount(Kind kind, int64_t count, int members);

/// Bytes that member `member` sends on a ring (tools' contract, item 11), with B the whole tensor over the
/// group: all_reduce 2B(n-1)/n; permute B when it sends to another member; every other kind B(n-1)/n. Rounded
/// down once per call.
uint64_t ringBytes(const Collective &collective, int members, int member);

} // namespace par::comm
#endif
