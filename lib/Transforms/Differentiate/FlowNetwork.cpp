//===- FlowNetwork.cpp - maximum flow and minimum cut ---------------------------------------------------===//
#include "FlowNetwork.h"
#include <algorithm>

using namespace mlir::par;

int FlowNetwork::addNode() {
  out.emplace_back();
  return static_cast<int>(out.size()) - 1;
}

void FlowNetwork::addEdge(int from, int to, int64_t capacity) {
  out[from].push_back(static_cast<int>(edges.size()));
  edges.push_back({to, capacity});
  out[to].push_back(static_cast<int>(edges.size()));
  edges.push_back({from, 0});
}

/// Distances from the source along edges with capacity left; false if the sink is out of reach.
bool FlowNetwork::assignLevels(int source, int sink) {
  levels.assign(out.size(), -1);
  levels[source] = 0;
  std::vector<int> queue = {source};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int edge : out[queue[head]])
      if (edges[edge].capacity > 0 && levels[edges[edge].to] < 0) {
        levels[edges[edge].to] = levels[queue[head]] + 1;
        queue.push_back(edges[edge].to);
      }
  return levels[sink] >= 0;
}

/// One augmenting path of the level graph, found without recursion (paths are as long as a flat graph of many
/// layers is deep).
int64_t FlowNetwork::pushPath(int source, int sink) {
  std::vector<int> path;
  for (int node = source; node != sink;) {
    size_t &position = next[node];
    while (position < out[node].size()) {
      const Edge &edge = edges[out[node][position]];
      if (edge.capacity > 0 && levels[edge.to] == levels[node] + 1)
        break;
      ++position;
    }
    if (position < out[node].size()) {
      path.push_back(out[node][position]);
      node = edges[path.back()].to;
      continue;
    }
    if (path.empty())
      return 0;
    node = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[node];
  }
  int64_t flow = kUnlimited;
  for (int edge : path)
    flow = std::min(flow, edges[edge].capacity);
  for (int edge : path) {
    edges[edge].capacity -= flow;
    edges[edge ^ 1].capacity += flow;
  }
  return flow;
}

int64_t FlowNetwork::maximise(int source, int sink) {
  int64_t total = 0;
  while (assignLevels(source, sink)) {
    next.assign(out.size(), 0);
    while (int64_t flow = pushPath(source, sink))
      total += flow;
  }
  return total;
}

std::vector<bool> FlowNetwork::getSinkSide(int sink) const {
  std::vector<bool> reaches(out.size(), false);
  reaches[sink] = true;
  std::vector<int> queue = {sink};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int edge : out[queue[head]])
      // The reverse of an outgoing edge comes in.
      if (edges[edge ^ 1].capacity > 0 && !reaches[edges[edge].to]) {
        reaches[edges[edge].to] = true;
        queue.push_back(edges[edge].to);
      }
  return reaches;
}
