//===- FlowNetwork.h - maximum flow and minimum cut -------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_FLOWNETWORK_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_FLOWNETWORK_H

#include <cstdint>
#include <limits>
#include <vector>

namespace mlir::par {

/// A directed graph with capacities; maximum flow by Dinic's algorithm (Soviet Math. Dokl. 11, 1970).
class FlowNetwork {
public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

  int addNode();
  void addEdge(int from, int to, int64_t capacity);
  /// Pushes a maximum flow; call once.
  int64_t maximise(int source, int sink);
  /// After `maximise`: nodes from which the sink can still be reached. The edges into this set are the
  /// minimum cut nearest to the sink.
  std::vector<bool> getSinkSide(int sink) const;

private:
  struct Edge {
    int to;
    int64_t capacity; ///< what is left
  };
  bool assignLevels(int source, int sink);
  int64_t pushPath(int source, int sink);

  std::vector<Edge> edges; ///< edge i and its reverse i^1
  std::vector<std::vector<int>> out;
  std::vector<int> levels;
  std::vector<size_t> next; ///< first edge of a node that may still carry flow in this phase
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_FLOWNETWORK_H
