//===- MinimumCut.cpp - which forward values to save ----------------------------------------------------===//
#include "FlowNetwork.h"
#include "SavePlan.h"
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// A value is an edge from `in` (its op has run again) to `out` (the backward pass has it) with the capacity
/// of holding it. An op is a node that costs its edge from the source when it is on the sink's side: then it
/// runs again, so that all of its operands are wanted too.
class CutBuilder {
public:
  CutBuilder(JointFunction &joint, const RecomputeCost &cost)
      : joint(joint), cost(cost), source(network.addNode()), sink(network.addNode()) {
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
  int connectOp(Operation *op);
  int64_t getCapacity(Value value);

  JointFunction &joint;
  const RecomputeCost &cost;
  FlowNetwork network;
  int source, sink;
  DenseSet<Value> returned;
  llvm::MapVector<Value, Nodes> nodes;
  DenseMap<Operation *, int> ops;
  SmallVector<Value> worklist;
};

} // namespace

/// One unit of the network is 1/1024 of a byte, so that among equal costs a tie can be broken: a value that
/// the caller of a layer has anyway (its argument or its result) is cheaper.
static constexpr double kUnits = 1024;

static int64_t toCapacity(double bytes) {
  return static_cast<int64_t>(std::min(std::round(bytes * kUnits), 1e15));
}

int64_t CutBuilder::getCapacity(Value value) {
  bool keptByCaller = !joint.info.isChunk && (isa<BlockArgument>(value) || returned.contains(value));
  return toCapacity(static_cast<double>(getLocalBytes(value))) + (keptByCaller ? 0 : 1);
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

int CutBuilder::connectOp(Operation *op) {
  auto [known, isNew] = ops.try_emplace(op, -1);
  if (!isNew)
    return known->second;
  int node = known->second = network.addNode();
  std::optional<double> price = cost(op);
  network.addEdge(source, node, price ? toCapacity(*price) : FlowNetwork::kUnlimited);
  if (price)
    for (Value operand : op->getOperands())
      network.addEdge(getNodes(operand).out, node, FlowNetwork::kUnlimited);
  return node;
}

void CutBuilder::connect(Value value) {
  int in = nodes.find(value)->second.in;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!joint.info.free[argument.getArgNumber()])
      network.addEdge(source, in, FlowNetwork::kUnlimited);
    return;
  }
  network.addEdge(connectOp(value.getDefiningOp()), in, FlowNetwork::kUnlimited);
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
  for (Operation *op : collectRunAgain(joint, saved))
    if (!isCheapToRecompute(op))
      op->setAttr(ParDialect::kRecomputeAttr, UnitAttr::get(op->getContext()));
  return saved;
}

DenseSet<Value> par::chooseMinimumCut(JointFunction &joint, const RecomputeCost &cost) {
  return CutBuilder(joint, cost).run();
}
