//===- FlowNetworkTest.cpp - minimum cuts of small graphs -----------------------------------------------===//
#include "lib/Transforms/Differentiate/FlowNetwork.h"
#include <gtest/gtest.h>
#include <random>

using mlir::par::FlowNetwork;

namespace {

/// Sum of the capacities of the edges into the sink's side, by hand.
struct Edge {
  int from, to;
  int64_t capacity;
};

int64_t getCut(const std::vector<Edge> &edges, const std::vector<bool> &sinkSide) {
  int64_t cut = 0;
  for (const Edge &edge : edges)
    if (!sinkSide[edge.from] && sinkSide[edge.to])
      cut += edge.capacity;
  return cut;
}

/// Smallest cut by trying every set of nodes that holds the sink (node 1) and not the source (node 0).
int64_t searchMinimum(const std::vector<Edge> &edges, int numNodes) {
  int64_t best = FlowNetwork::kUnlimited;
  for (unsigned set = 0; set < (1u << numNodes); ++set) {
    if ((set & 1) || !(set & 2))
      continue;
    std::vector<bool> sinkSide;
    for (int node = 0; node < numNodes; ++node)
      sinkSide.push_back(set >> node & 1);
    best = std::min(best, getCut(edges, sinkSide));
  }
  return best;
}

TEST(FlowNetwork, equalsExhaustiveSearch) {
  std::mt19937 generator(1);
  for (int round = 0; round < 300; ++round) {
    int numNodes = 3 + generator() % 6;
    FlowNetwork network;
    std::vector<Edge> edges;
    for (int node = 0; node < numNodes; ++node)
      network.addNode();
    for (unsigned count = generator() % 20; count-- > 0;) {
      Edge edge{int(generator() % numNodes), int(generator() % numNodes), int64_t(generator() % 9)};
      if (edge.from == edge.to)
        continue;
      edges.push_back(edge);
      network.addEdge(edge.from, edge.to, edge.capacity);
    }
    int64_t flow = network.maximise(0, 1);
    EXPECT_EQ(flow, searchMinimum(edges, numNodes)) << "round " << round;
    EXPECT_EQ(flow, getCut(edges, network.getSinkSide(1))) << "round " << round;
  }
}

/// Of the three equal cuts of a chain the one at the sink is taken.
TEST(FlowNetwork, cutsNearTheSink) {
  FlowNetwork network;
  for (int node = 0; node < 4; ++node)
    network.addNode();
  network.addEdge(0, 2, 5);
  network.addEdge(2, 3, 5);
  network.addEdge(3, 1, 5);
  EXPECT_EQ(network.maximise(0, 1), 5);
  EXPECT_EQ(network.getSinkSide(1), (std::vector<bool>{false, true, false, false}));
}

} // namespace
