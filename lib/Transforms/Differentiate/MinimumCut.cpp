//===- MinimumCut.cpp - which forward values to save ----------------------------------------------------===//
#include "FlowNetwork.h"
#include "SavePlan.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// Every value is an edge whose capacity is its bytes; an op that may be recomputed ties each operand to each
/// result.
class CutBuilder {
public:
  explicit CutBuilder(JointFunction &joint)
      : joint(joint), source(network.addNode()), sink(network.addNode()) {
    for (Value result : joint.getResults())
      returned.insert(result);
  }
  DenseSet<Value> run();

private:
  struct Nodes {
    int in, out;
  };
  Nodes getNodes(Value value);
  void connect(Value value);
  int64_t getCapacity(Value value);

  JointFunction &joint;
  FlowNetwork network;
  int source, sink;
  DenseSet<Value> returned;
  llvm::MapVector<Value, Nodes> nodes;
  SmallVector<Value> worklist;
};

} // namespace

/// Bytes; between values of equal bytes, one that the caller of a layer has anyway (its argument or its
/// result) is cheaper.
int64_t CutBuilder::getCapacity(Value value) {
  bool keptByCaller = !joint.info.isChunk && (isa<BlockArgument>(value) || returned.contains(value));
  return getLocalBytes(value) * 1024 + (keptByCaller ? 0 : 1);
}

CutBuilder::Nodes CutBuilder::getNodes(Value value) {
  auto known = nodes.find(value);
  if (known != nodes.end())
    return known->second;
  Nodes created{network.addNode(), network.addNode()};
  network.addEdge(created.in, created.out, getCapacity(value));
  nodes.insert({value, created});
  worklist.push_back(value);
  return created;
}

void CutBuilder::connect(Value value) {
  int in = nodes.find(value)->second.in;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!joint.info.free[argument.getArgNumber()])
      network.addEdge(source, in, FlowNetwork::kUnlimited);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!isCheapToRecompute(op)) {
    network.addEdge(source, in, FlowNetwork::kUnlimited);
    return;
  }
  for (Value operand : op->getOperands())
    network.addEdge(getNodes(operand).out, in, FlowNetwork::kUnlimited);
}

DenseSet<Value> CutBuilder::run() {
  for (Value value : collectUsedByBackward(joint))
    network.addEdge(getNodes(value).out, sink, FlowNetwork::kUnlimited);
  while (!worklist.empty())
    connect(worklist.pop_back_val());
  network.maximise(source, sink);
  std::vector<bool> sinkSide = network.getSinkSide(sink);
  DenseSet<Value> saved = joint.calleeResiduals;
  for (auto &[value, ends] : nodes)
    if (!sinkSide[ends.in] && sinkSide[ends.out])
      saved.insert(value);
  return saved;
}

DenseSet<Value> par::chooseMinimumCut(JointFunction &joint) { return CutBuilder(joint).run(); }
