/// Streams, their captures, events and graphs.
#ifndef PAR_STANDIN_GRAPH_H
#define PAR_STANDIN_GRAPH_H

#include "standin/Executor.h"

#include <thread>

namespace par::standin {

/// Work that is recorded from streams instead of being done.
struct Capture {
  cuda::CUstream origin = nullptr;
  int mode = 0;
  std::thread::id thread; ///< that began it
  std::vector<Op> nodes;
  bool invalid = false;
};

} // namespace par::standin

namespace par::cuda {

struct CUstream_st {
  standin::Lane *lane;
  std::string name;                          ///< "stream 2"
  std::shared_ptr<standin::Capture> capture; ///< null: its work is done
  std::vector<standin::Op> captured;         ///< what its next node is behind
};

struct CUevent_st {
  unsigned flags = 0;
  standin::Op at;                            ///< null: it was never recorded
  std::shared_ptr<double> time;              ///< when it happened, in seconds
  std::shared_ptr<standin::Capture> capture; ///< that it was last recorded in
  std::vector<standin::Op> captured;
};

struct CUgraph_st {
  std::vector<standin::Op> nodes; ///< each behind those that it needs
};

struct CUgraphExec_st {
  std::vector<standin::Op> nodes;
  std::vector<standin::Lane *> lanes; ///< by node: branches of its own
  standin::Op end;                    ///< of the last launch
};

} // namespace par::cuda

namespace par::standin {

/// Every branch of a graph on a lane of its own: a node goes on with the lane of the first of those before it
/// that has no other behind it yet.
std::vector<Lane *> branchesOf(const std::vector<Op> &nodes, Executor &executor);

/// Whether a node is one of `from` or before one of them.
bool isBefore(const Op &node, const std::vector<Op> &from);

} // namespace par::standin
#endif
