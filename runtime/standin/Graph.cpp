#include "standin/Graph.h"

#include <map>
#include <set>

namespace par::standin {

std::vector<Lane *> branchesOf(const std::vector<Op> &nodes, Executor &executor) {
  std::vector<Lane *> lanes;
  std::map<const Operation *, Lane *> ends; // lanes whose last node it is
  for (const Op &node : nodes) {
    Lane *lane = nullptr;
    for (const Op &before : node->after)
      if (auto end = ends.find(before.get()); !lane && end != ends.end()) {
        lane = end->second;
        ends.erase(end);
      }
    lanes.push_back(lane ? lane : executor.makeLane("a branch of a graph"));
    ends[node.get()] = lanes.back();
  }
  return lanes;
}

bool isBefore(const Op &node, const std::vector<Op> &from) {
  std::set<const Operation *> seen;
  std::vector<Op> open = from;
  while (!open.empty()) {
    Op next = open.back();
    open.pop_back();
    if (next == node)
      return true;
    if (seen.insert(next.get()).second)
      open.insert(open.end(), next->after.begin(), next->after.end());
  }
  return false;
}

} // namespace par::standin
