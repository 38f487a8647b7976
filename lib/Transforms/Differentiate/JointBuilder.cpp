//===- JointBuilder.cpp - the reverse walk over a function's ops ----------------------------------------===//
#include "JointBuilder.h"

using namespace mlir;
using namespace mlir::par;

JointBuilder::JointBuilder(JointFunction &joint, const DenseMap<Operation *, const Derivative *> &calls,
                           bool split)
    : joint(joint), calls(calls), split(split), builder(joint.getBody().getTerminator()),
      location(joint.scratch.getLoc()) {}

LogicalResult JointBuilder::run() {
  varied = collectVaried(joint.getBody(), joint.info.varied);
  addArguments();
  seedCotangents();
  for (Operation *op : llvm::reverse(joint.forwardOps.getArrayRef()))
    if (failed(completeOp(op)))
      return failure();
  finish();
  eraseDeadOps();
  widenGradients();
  if (split)
    collectWeightOps();
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void JointBuilder::addArguments() {
  auto add = [&](Type type, Slot slot) {
    Value argument = joint.getBody().addArgument(type, location);
    joint.addedArguments.try_emplace(argument, slot);
    return argument;
  };
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  scale = add(scalar, {Slot::Scale});
  beta = add(scalar, {Slot::Beta});
  sharedBeta = add(scalar, {Slot::Beta, 1});
  accumulators.resize(joint.info.varied.size());
  for (auto [index, accumulated] : llvm::enumerate(joint.info.accumulated))
    if (accumulated)
      accumulators[index].current =
          add(cast<RankedTensorType>(getArgument(index).getType()).clone(joint.gradientType),
              {Slot::Accumulator, static_cast<unsigned>(index)});
}

void JointBuilder::seedCotangents() {
  func::FuncOp function = joint.info.function;
  for (auto [index, value] : llvm::enumerate(joint.getResults())) {
    if (!joint.info.useful[index] || !varied.contains(value))
      continue;
    auto addSeed = [&](Slot slot) {
      Value seed = joint.getBody().addArgument(value.getType(), location);
      joint.addedArguments.try_emplace(seed, slot);
      return seed;
    };
    Value seed = scale;
    if (!joint.info.isChunk || !getOutput(function, index))
      seed = addSeed({Slot::Cotangent, static_cast<unsigned>(index)});
    else if (hasWeight(getResultPlace(function, index)))
      seed = create<arith::MulFOp>(scale, addSeed({Slot::Scale, static_cast<unsigned>(index) + 1}));
    Value &sum = cotangents[value];
    sum = sum ? create<arith::AddFOp>(sum, seed) : seed;
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A cotangent lies as its value does; propagation fills in what lies between.
void JointBuilder::shardLikeValue(Value cotangent, Value value) {
  ShardingAttr sharding = getDimensionSharding(getSharding(value));
  Operation *op = cotangent.getDefiningOp();
  if (!sharding || !op || joint.forwardOps.contains(op) || !sharded.insert(cotangent).second)
    return;
  setSharding(cotangent, sharding);
}

LogicalResult JointBuilder::addCotangent(Operation *op, Value value, Value cotangent) {
  auto argument = dyn_cast<BlockArgument>(value);
  bool isParameter = argument && joint.info.parameter[argument.getArgNumber()];
  auto sumType = cast<RankedTensorType>(value.getType()).clone(builder.getF32Type());
  if (cotangent.getType() != value.getType() && !(isParameter && cotangent.getType() == sumType))
    return op->emitOpError("derivative has type ")
           << cotangent.getType() << ", expected the operand's " << value.getType();
  if (argument && joint.info.accumulated[argument.getArgNumber()] &&
      !joint.info.accumulatorStorage[argument.getArgNumber()]) {
    shardLikeValue(cotangent, value);
    accumulate(argument.getArgNumber(), cotangent);
    return success();
  }
  // What a layer returns of a parameter goes to its accumulator too.
  if (isParameter)
    cotangent = toSumType(cotangent, argument.getArgNumber());
  Value &sum = cotangents[value];
  sum = sum ? create<arith::AddFOp>(sum, cotangent) : cotangent;
  return success();
}

LogicalResult JointBuilder::differentiate(Operation *op) {
  location = op->getLoc();
  SmallVector<Value> flowing;
  for (Value result : op->getResults()) {
    Value cotangent = cotangents.lookup(result);
    if (cotangent)
      shardLikeValue(cotangent, result);
    flowing.push_back(cotangent);
  }
  SmallVector<bool> needed;
  for (Value operand : op->getOperands())
    needed.push_back(varied.contains(operand) && isFloatTensor(operand.getType()));
  if (llvm::none_of(flowing, [](Value value) { return static_cast<bool>(value); }) ||
      !llvm::is_contained(needed, true))
    return success();
  if (const Derivative *callee = calls.lookup(op))
    return differentiateCall(cast<CallOp>(op), *callee);
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable) {
    InFlightDiagnostic error =
        op->emitOpError("has no derivative but lies between a parameter and the loss; implement "
                        "DifferentiableOpInterface or take it out of the graph");
    for (Operation *user : op->getUsers())
      if (joint.forwardOps.contains(user))
        error.attachNote(user->getLoc()) << "the loss depends on it by this";
    return error;
  }
  SmallVector<Value> operandCotangents(op->getNumOperands());
  if (failed(differentiable.differentiate(builder, flowing, needed, operandCotangents)))
    return failure();
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (needed[index] && operandCotangents[index] &&
        failed(addCotangent(op, operand, operandCotangents[index])))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

void JointBuilder::applyBeta(unsigned argument) {
  Accumulator &accumulator = accumulators[argument];
  Value current = toSumType(accumulator.current, argument);
  auto type = cast<RankedTensorType>(current.getType());
  Value factor = getBeta(argument);
  if (type.getRank() > 0) {
    factor = create<ExpandOp>(type, factor, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    own(argument, factor.getDefiningOp());
  }
  accumulator.current = create<arith::MulFOp>(factor, current);
  accumulator.started = true;
  own(argument, accumulator.current.getDefiningOp());
  shardLikeAccumulator(accumulator.current, argument);
}

void JointBuilder::shardLikeAccumulator(Value current, unsigned argument) {
  ShardingAttr storage = joint.info.accumulatorStorage[argument];
  if (!storage)
    return shardLikeValue(current, getArgument(argument));
  setSharding(current, storage);
  sharded.insert(current);
}

void JointBuilder::accumulateCotangent(BlockArgument argument) {
  Value gradient = cotangents.lookup(argument);
  if (!gradient)
    return;
  shardLikeValue(gradient, argument);
  cotangents.erase(argument);
  accumulate(argument.getArgNumber(), gradient);
}

LogicalResult JointBuilder::completeOp(Operation *op) {
  if (failed(differentiate(op)))
    return failure();
  for (Value operand : op->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || !joint.info.accumulatorStorage[argument.getArgNumber()])
      continue;
    bool isFirstUser = llvm::none_of(argument.getUsers(), [&](Operation *user) {
      return joint.forwardOps.contains(user) && user->isBeforeInBlock(op);
    });
    if (isFirstUser)
      accumulateCotangent(argument);
  }
  return success();
}

Value JointBuilder::toSumType(Value value, unsigned argument) {
  Value converted = convertFloat(builder, location, value, builder.getF32Type());
  if (converted != value)
    own(argument, converted.getDefiningOp());
  return converted;
}

Value JointBuilder::getStored(unsigned argument) {
  Value &current = accumulators[argument].current;
  Value stored = convertFloat(builder, location, current, joint.gradientType);
  if (stored != current) {
    own(argument, stored.getDefiningOp());
    shardLikeAccumulator(stored, argument);
  }
  return current = stored;
}

void JointBuilder::accumulate(unsigned argument, Value gradient) {
  Accumulator &accumulator = accumulators[argument];
  if (joint.info.weight[argument])
    weightGradients.push_back(gradient);
  if (!accumulator.started)
    applyBeta(argument);
  Value sum = toSumType(accumulator.current, argument);
  accumulator.current = create<arith::AddFOp>(sum, toSumType(gradient, argument));
  own(argument, accumulator.current.getDefiningOp());
  shardLikeAccumulator(accumulator.current, argument);
}

//===----------------------------------------------------------------------===//
// After the walk
//===----------------------------------------------------------------------===//

void JointBuilder::finish() {
  location = joint.scratch.getLoc();
  for (auto [index, storage] : llvm::enumerate(joint.info.accumulatorStorage))
    if (storage)
      accumulateCotangent(getArgument(index));
  for (unsigned index = 0; index < joint.info.varied.size(); ++index) {
    Value cotangent = cotangents.lookup(getArgument(index));
    // Nothing that has a derivative uses it, but the chunk before this one waits.
    if (!cotangent && joint.info.awaited[index])
      cotangent = buildSplat(builder, location, cast<RankedTensorType>(getArgument(index).getType()), 0.0);
    if (!cotangent)
      continue;
    shardLikeValue(cotangent, getArgument(index));
    joint.outputs.emplace_back(Slot{Slot::Cotangent, index}, cotangent);
  }
  for (unsigned index = 0; index < joint.info.varied.size(); ++index) {
    if (!joint.info.accumulated[index])
      continue;
    // A parameter to which nothing flows back has gradient zero.
    if (!accumulators[index].started)
      applyBeta(index);
    joint.outputs.emplace_back(Slot{Slot::Accumulator, index}, getStored(index));
  }
}

/// A sum that is summed up further (of a table of positions: over the batch, then by position) is not rounded
/// in between either.
static void widenSummedUp(Operation *op, Type element, const llvm::SetVector<Operation *> &forwardOps) {
  if (isa<EinsumOp>(op)) // its operands have one type
    return;
  for (Value operand : op->getOperands()) {
    auto sum = operand.getDefiningOp<ReduceOp>();
    if (!sum || !sum.mayWidenResults() || !isFloatTensor(sum.getType()) || forwardOps.contains(sum) ||
        !operand.hasOneUse())
      continue;
    operand.setType(sum.getType().clone(element));
    widenSummedUp(sum, element, forwardOps);
  }
}

/// A gradient that only its accumulator uses is not rounded to the parameter's type on the way: what extends
/// it takes the sum itself where the op says that its result's type is a matter of rounding.
void JointBuilder::widenGradients() {
  DenseSet<Value> returned;
  for (auto &[slot, value] : joint.outputs)
    returned.insert(value);
  for (Operation *op : joint.getBackwardOps()) {
    auto extend = dyn_cast<arith::ExtFOp>(op);
    Value gradient = extend ? extend.getIn() : Value();
    auto kernel = gradient ? gradient.getDefiningOp<KernelOpInterface>() : KernelOpInterface();
    if (!kernel || !kernel.mayWidenResults() || joint.forwardOps.contains(kernel) || !gradient.hasOneUse() ||
        returned.contains(gradient))
      continue;
    auto type = cast<RankedTensorType>(extend.getType());
    gradient.setType(type);
    widenSummedUp(kernel, type.getElementType(), joint.forwardOps);
    extend.replaceAllUsesWith(gradient);
    for (auto &[slot, value] : joint.outputs)
      if (value == extend.getResult())
        value = gradient;
    joint.weightOps.erase(extend);
    extend->erase();
  }
}

void JointBuilder::eraseDeadOps() {
  DenseSet<Value> returned;
  for (auto &[slot, value] : joint.outputs)
    returned.insert(value);
  SmallVector<Operation *> ops = joint.getBackwardOps();
  for (Operation *op : llvm::reverse(ops)) {
    // Layers are pure, which a call does not say of itself.
    bool removable = isPure(op) || isa<CallOp>(op);
    if (!removable || llvm::any_of(op->getResults(), [&](Value result) {
          return !result.use_empty() || returned.contains(result);
        }))
      continue;
    joint.weightOps.erase(op);
    op->erase();
  }
  llvm::erase_if(weightGradients,
                 [&](Value value) { return value.use_empty() && !returned.contains(value); });
}

/// From every contribution upwards through sums and views to the op that computes the gradient, as far as
/// nothing else uses it. What that op sums up further goes along (of a table of positions: the sum over the
/// batch), so that ranks' partial sums end in the same place as in a backward pass that is not split.
void JointBuilder::collectWeightOps() {
  DenseSet<Value> returned;
  for (auto &[slot, value] : joint.outputs)
    if (slot.kind == Slot::Cotangent && joint.info.weight[slot.index])
      weightGradients.push_back(value); // the caller accumulates it, in its own weight part
    else
      returned.insert(value);
  SmallVector<Value> worklist = weightGradients;
  SmallVector<Operation *> ops = joint.getBackwardOps();
  DenseSet<Operation *> backward(ops.begin(), ops.end());
  DenseSet<Operation *> candidates;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !backward.contains(op) || isa<CallOp>(op) || !candidates.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (isCheapToRecompute(op) || operand.getDefiningOp<ReduceOp>())
        worklist.push_back(operand);
  }
  for (Operation *op : llvm::reverse(ops)) {
    bool onlyWeights =
        llvm::none_of(op->getResults(), [&](Value result) { return returned.contains(result); }) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return joint.weightOps.contains(user); });
    if (candidates.contains(op) && onlyWeights)
      joint.weightOps.insert(op);
  }
}
