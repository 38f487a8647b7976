#include "core/Deterministic.h"

#include <algorithm>

namespace par::rt {

using comm::Collective;

/// Rounded sums depend on their order. One of two numbers has only one; whole numbers, and the largest of
/// some, are the same in any.
static bool dependsOnOrder(const Collective &what) {
  bool adds = what.kind == comm::Kind::all_reduce || what.kind == comm::Kind::reduce_scatter ||
              what.kind == comm::Kind::reduce_to;
  return adds && what.op == comm::Op::sum && (what.type == comm::Type::f32 || what.type == comm::Type::bf16);
}

static int64_t sizeOf(const Members &members, const std::vector<Axis> &axes) {
  if (members.groups.empty())
    return coordinateCount(axes, members.axes);
  size_t most = 0;
  for (const std::vector<int> &group : members.groups)
    most = std::max(most, group.size());
  return int64_t(most);
}

std::string ncclOrderProblem(const Manifest &manifest) {
  for (const Program &program : manifest.programs)
    for (const ManifestCollective &collective : program.collectives)
      if (int64_t size = sizeOf(collective.members, manifest.axes);
          size > 2 && dependsOnOrder(collective.what))
        return "--deterministic: " + manifest.path + " has " + comm::nameOf(collective.what.kind) + " over " +
               std::to_string(size) +
               " ranks, whose numbers NCCL adds up in an order of its own, and not always the same; "
               "leave the flag out, or run all ranks on one GPU, without a launcher";
  return "";
}

} // namespace par::rt
