//===- StackMachine.cpp - attention in parts, kernels that move more ------------------------------------===//
#include "StackMachine.h"

using namespace mlir::par;

/// Two products forward and four back, of all queries by all keys, and kernels that go over the scores:
/// scale, mask, softmax, dropout (Korthikanti et al., 2205.05198, section 4.1).
static double getUnfusedSeconds(const AttentionShape &shape, const ScoresModel &scores,
                                const DeviceModel &device) {
  int64_t batch = shape.batch * shape.heads;
  ProductShape toScores{shape.type, batch, shape.queryRows, shape.keyRows, shape.headDim};
  ProductShape fromScores{shape.type, batch, shape.queryRows, shape.headDim, shape.keyRows};
  double products = getProductSeconds(toScores, device) + getProductSeconds(fromScores, device);
  double count = double(batch) * double(shape.queryRows) * double(shape.keyRows);
  double bytes = count * (shape.backward ? scores.backwardBytes : scores.forwardBytes);
  return products * (shape.backward ? 2 : 1) + getKernelSeconds(bytes, 0, device);
}

double StackMachine::getAttention(AttentionShape shape) const {
  auto seconds = [&] {
    return stack.scores ? getUnfusedSeconds(shape, *stack.scores, device)
                        : getAttentionSeconds(shape, device) / stack.attentionRate;
  };
  double own = seconds();
  if (!shape.backward || !attentionAgain)
    return own;
  shape.backward = false;
  return own + seconds();
}

double StackMachine::getSeconds(const Computation &work) const {
  if (const auto *attention = work.library.target<AttentionTime>())
    return getAttention(attention->shape) + device.launchGap;
  if (!work.products.empty() || work.onHost)
    return ClusterMachine::getSeconds(work);
  if (work.transposes && layer.splitsSequence && stack.sequenceFirst)
    return 0;
  Computation more = work;
  more.bytes *= layer.kernelBytes;
  return ClusterMachine::getSeconds(more);
}

/// Among ranks of data parallelism alone.
bool StackMachine::isOfData(const Exchange &exchange) const {
  return llvm::all_of(exchange.axes, [&](size_t axis) {
    return getUserAxis(mesh.getNames()[axis].getValue()) == getAxisName(AxisRole::Batch);
  });
}

bool StackMachine::exchangeBlocks(const Exchange &exchange) const {
  return !stack.overlap && isOfData(exchange);
}

/// A message in parts: each tensor-parallel rank sends one of them, and gathers all.
double StackMachine::getSplitSeconds(Exchange message) const {
  Exchange gather;
  gather.kind = CollectiveKind::AllGather;
  gather.bytes = message.bytes;
  gather.axes.push_back(size_t(mesh.getPosition("tp")));
  message.bytes /= double(mesh.getSizes()[gather.axes.front()]);
  return ClusterMachine::getSeconds(message) + ClusterMachine::getSeconds(gather);
}

double StackMachine::getSeconds(const Exchange &exchange) const {
  if (!exchange.kind && stack.splitMessages && mesh.hasAxis("tp") && !layer.splitsSequence)
    return getSplitSeconds(exchange);
  Exchange other = exchange;
  bool isSum = exchange.kind == CollectiveKind::AllReduce || exchange.kind == CollectiveKind::ReduceScatter;
  if (isSum && isOfData(exchange)) { // par sums gradients in f32
    other.bytes *= stack.gradientBytes / 4;
    other.wireBytes *= stack.gradientBytes / 4;
  }
  return ClusterMachine::getSeconds(other);
}

/// Where whole layers are run again, their last product is as well, whose result no gradient needs: par does
/// not run it.
double StackMachine::getRepeatedSeconds() const {
  if (!stack.wholeLayers || !layer.isRunAgain)
    return 0;
  double seconds = getProductSeconds(layer.last, device) + device.launchGap;
  return layer.sum ? seconds + getSeconds(*layer.sum) : seconds;
}

/// The host's, of a layer.
double StackMachine::getLaunchSeconds(bool isForward) const {
  double again = layer.isRunAgain ? stack.forwardLaunches : 0;
  return stack.launchTime * (isForward ? stack.forwardLaunches : stack.backwardLaunches + again);
}

double StackMachine::getExtraSeconds(const Action &action) const {
  using Kind = ActionKind;
  bool isWhole = action.kind == Kind::Backward || action.kind == Kind::BackwardLast;
  bool hasInput = isWhole || action.kind == Kind::BackwardInput;
  bool hasWeights = isWhole || action.kind == Kind::BackwardWeight || action.kind == Kind::BackwardWeightLast;
  double seconds = hasInput ? getRepeatedSeconds() : 0;
  if (hasInput || action.kind == Kind::Forward)
    seconds += getLaunchSeconds(action.kind == Kind::Forward);
  if (hasWeights)
    seconds += getKernelSeconds(stack.accumulatedBytes * layer.parameters, 0, device);
  seconds *= double(layer.layersOf[size_t(action.chunk)]);
  bool hasLoss = hasInput && size_t(action.chunk) + 1 == layer.layersOf.size();
  return seconds + (hasLoss ? getKernelSeconds(stack.lossBytes * layer.logits, 0, device) : 0);
}
