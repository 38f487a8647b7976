#include "comm/Collective.h"

namespace par::comm {

static const char *const kindNames[] = {
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "collective_broadcast",
    "reduce_to",  "gather",         "scatter",    "permute"};
static const char *const opNames[] = {"sum", "max", "min"};
static const char *const typeNames[] = {"f32", "i32", "i64", "bf16", "i1"};

template <typename Enum, size_t count>
static bool parse(const char *const (&names)[count], const std::string &text, Enum &value) {
  for (size_t i = 0; i < count; ++i) {
    if (text != names[i])
      continue;
    value = Enum(i);
    return true;
  }
  return false;
}

bool parseKind(const std::string &text, Kind &kind) { return parse(kindNames, text, kind); }
bool parseOp(const std::string &text, Op &op) { return parse(opNames, text, op); }
bool parseType(const std::string &text, Type &type) { return parse(typeNames, text, type); }
const char *nameOf(Kind kind) { return kindNames[int(kind)]; }
int64_t bytesOf(Type type) {
  return type == Type::i64 ? 8 : type == Type::bf16 ? 2 : type == Type::i1 ? 1 : 4;
}

bool sameCollective(const Collective &a, const Collective &b) {
  return &a == &b || (a.kind == b.kind && a.op == b.op && a.type == b.type && a.counts == b.counts &&
                      a.root == b.root && a.permutation == b.permutation);
}

int senderOf(const Collective &collective, int target) {
  for (size_t i = 0; i < collective.permutation.size(); ++i)
    if (collective.permutation[i] == target)
      return int(i);
  return -1;
}

static std::string problemOfPermutation(const Collective &collective, int members) {
  if (int(collective.permutation.size()) != members)
    return "permutation has " + std::to_string(collective.permutation.size()) + " entries, the group " +
           std::to_string(members) + " members";
  std::vector<bool> receives(members, false);
  for (int target : collective.permutation) {
    if (target == -1)
      continue;
    if (target < 0 || target >= members)
      return "permutation names member " + std::to_string(target) + " of " + std::to_string(members);
    if (receives[target])
      return "permutation sends to member " + std::to_string(target) + " twice";
    receives[target] = true;
  }
  return "";
}

std::string problemOf(const Collective &collective, int members) {
  bool reduces = collective.kind == Kind::all_reduce || collective.kind == Kind::reduce_scatter ||
                 collective.kind == Kind::reduce_to;
  if (reduces && collective.type == Type::i1)
    return "elements of type i1 cannot be reduced";
  bool divides = collective.kind == Kind::reduce_scatter || collective.kind == Kind::all_to_all ||
                 collective.kind == Kind::scatter;
  for (int64_t count : collective.counts) {
    if (count < 0)
      return "negative count " + std::to_string(count);
    if (divides && count % members != 0)
      return "count " + std::to_string(count) + " is not divisible by the group's " +
             std::to_string(members) + " members";
  }
  if (collective.root < 0 || collective.root >= members)
    return "root " + std::to_string(collective.root) + " is not one of the group's " +
           std::to_string(members) + " members";
  return collective.kind == Kind::permute ? problemOfPermutation(collective, members) : "";
}

int64_t destinationCount(Kind kind, int64_t count, int members) {
  switch (kind) {
  case Kind::all_gather:
  case Kind::gather:
    return count * members;
  case Kind::reduce_scatter:
  case Kind::scatter:
    return count / members;
  default:
    return count;
  }
}

uint64_t ringBytes(const Collective &collective, int members, int member) {
  uint64_t bytes = 0;
  for (int64_t count : collective.counts)
    bytes += uint64_t(count * bytesOf(collective.type));
  uint64_t n = uint64_t(members);
  switch (collective.kind) {
  case Kind::all_reduce:
    return 2 * bytes * (n - 1) / n;
  case Kind::all_gather:
  case Kind::gather:
    return bytes * (n - 1);
  case Kind::permute: {
    int target = collective.permutation[member];
    return target >= 0 && target != member ? bytes : 0;
  }
  default:
    return bytes * (n - 1) / n;
  }
}

} // namespace par::comm
