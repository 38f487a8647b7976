#include "generate/LogitsRow.h"

#include "core/Error.h"
#include "core/Topology.h"

#include <algorithm>

namespace par::generating {

LogitsRow::LogitsRow(const rt::Manifest &manifest, comm::Transport &transport, int rank)
    : output(*manifest.programs[manifest.programWith("logits")].findOutput("logits")), transport(transport),
      rank(rank) {
  std::vector<int> axes = output.sharding[1];
  axes.insert(axes.end(), output.sharding[2].begin(), output.sharding[2].end());
  std::vector<int> ranks =
      rt::groupOf(manifest.axes, rt::firstRankOf(manifest, manifest.programWith("logits")), axes);
  firstHolder = ranks.front() != 0;
  if (firstHolder)
    ranks.insert(ranks.begin(), 0);
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
    return;
  members = ranks;
  group = transport.group(members);
  for (int member : members)
    begins.push_back(rt::shardBegin(manifest.axes, rt::coordinatesOf(manifest.axes, member), output.sharding,
                                    output.local));
  if (rank == 0)
    parts.resize(members.size() * size_t(output.local[2]));
}

void LogitsRow::read(const rt::Arenas &arenas, int64_t position, std::vector<float> &row) {
  row.clear();
  if (members.empty())
    return;
  size_t own = size_t(std::find(members.begin(), members.end(), rank) - members.begin());
  // A member without the position sends some row of its own, which nobody looks at.
  int64_t local = std::clamp<int64_t>(position - begins[own][1], 0, output.local[1] - 1);
  part.resize(size_t(output.local[2]));
  size_t bytes = part.size() * sizeof(float);
  if (own >= firstHolder)
    arenas.on->read(part.data(), arenas.device + output.offsets[0] + local * int64_t(bytes), bytes);
  comm::Collective gather;
  gather.kind = comm::Kind::gather;
  gather.counts = {output.local[2]};
  void *buffers[2] = {part.data(), parts.data()};
  rt::check(transport.run(*group, gather, buffers));
  if (rank != 0)
    return;
  row.resize(size_t(output.shape[2]));
  for (size_t member = firstHolder; member < members.size(); ++member)
    place(member, position, row);
}

void LogitsRow::place(size_t member, int64_t position, std::vector<float> &row) const {
  const rt::Shape &begin = begins[member];
  if (position < begin[1] || position >= begin[1] + output.local[1])
    return;
  int64_t count = std::clamp<int64_t>(output.shape[2] - begin[2], 0, output.local[2]); // without padding
  std::copy_n(parts.data() + member * size_t(output.local[2]), count,
              row.begin() + std::min(begin[2], output.shape[2]));
}

} // namespace par::generating
