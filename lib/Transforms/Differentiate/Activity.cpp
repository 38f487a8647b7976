//===- Activity.cpp - what differentiation must know of every function ----------------------------------===//
#include "Activity.h"
#include "RecomputePolicy.h"
#include "par/Dialect/Par/IR/CallGraph.h"
#include "par/Dialect/Par/IR/Sizes.h"

using namespace mlir;
using namespace mlir::par;

bool par::isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

llvm::DenseMap<Attribute, VariableOp> par::collectAccumulators(ModuleOp module) {
  llvm::DenseMap<Attribute, VariableOp> accumulators;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::Accumulator && variable.getOfAttr())
      accumulators.try_emplace(variable.getOfAttr(), variable);
  return accumulators;
}

bool par::mayRecompute(Operation *op) {
  return isCheapToRecompute(op) || op->hasAttr(ParDialect::kRecomputeAttr);
}

void par::clearMarks(Operation *op) {
  op->removeAttr(ParDialect::kSaveAttr);
  op->removeAttr(ParDialect::kRecomputeAttr);
}

void par::clearMarks(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    function.removeArgAttr(index, ParDialect::kSaveAttr);
  function.walk([](Operation *op) { clearMarks(op); });
}

DenseSet<Value> par::collectVaried(Block &body, ArrayRef<bool> varied) {
  DenseSet<Value> values;
  for (auto [flag, argument] : llvm::zip(varied, body.getArguments()))
    if (flag)
      values.insert(argument);
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return values.contains(operand); }))
      for (Value result : op.getResults())
        if (isFloatTensor(result.getType()))
          values.insert(result);
  return values;
}

/// Values from which a value in `useful` follows (added to it).
static void extendUseful(Block &body, DenseSet<Value> &useful) {
  for (Operation &op : llvm::reverse(body))
    if (llvm::any_of(op.getResults(), [&](Value result) { return useful.contains(result); }))
      useful.insert(op.operand_begin(), op.operand_end());
}

DenseSet<Value> par::collectFree(Block &body, ArrayRef<bool> free) {
  DenseSet<Value> values;
  for (auto [flag, argument] : llvm::zip(free, body.getArguments()))
    if (flag)
      values.insert(argument);
  for (Operation &op : body)
    if (isCheapToRecompute(&op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return values.contains(operand); }))
      values.insert(op.result_begin(), op.result_end());
  return values;
}

//===----------------------------------------------------------------------===//
// Call graph
//===----------------------------------------------------------------------===//

static LogicalResult verifyBody(func::FuncOp function) {
  size_t blocks = function.getBody().getBlocks().size();
  if (blocks == 1)
    return success();
  InFlightDiagnostic error = function.emitError("@") << function.getName() << " has ";
  return blocks == 0 ? error << "no body, so it has no derivative" : error << blocks << " blocks, expected 1";
}

/// Layers have bodies, and none calls itself: each stands before those that call it.
LogicalResult Activity::verifyLayers(ArrayRef<func::FuncOp> calleesFirst) const {
  DenseSet<Operation *> before;
  for (func::FuncOp function : calleesFirst) {
    if (failed(verifyBody(function)))
      return failure();
    for (CallOp call : function.getOps<CallOp>()) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
      if (failed(verifyBody(callee)))
        return failure();
      if (before.contains(callee))
        continue;
      InFlightDiagnostic error = callee.emitError("@")
                                 << callee.getName() << " calls itself; layers must not be recursive";
      error.attachNote(call.getLoc()) << "by this call in @" << function.getName();
      return error;
    }
    before.insert(function);
  }
  return success();
}

FailureOr<Activity> Activity::compute(ModuleOp module) {
  Activity activity(module);
  SmallVector<func::FuncOp> chunks = ChunkFunctions(module).getAll(Phase::Forward);
  SmallVector<func::FuncOp> calleesFirst =
      par::getCalleesFirst<CallOp, func::FuncOp>(activity.symbols, chunks);
  for (func::FuncOp chunk : chunks)
    if (failed(verifyBody(chunk)))
      return failure();
  if (failed(activity.verifyLayers(calleesFirst)))
    return failure();
  if (chunks.empty())
    return module.emitError("nothing to differentiate: no function is of phase forward"), failure();
  for (func::FuncOp function : llvm::reverse(calleesFirst)) {
    FunctionInfo &info = activity.functions[function.getNameAttr()];
    info.function = function;
    info.isChunk = llvm::is_contained(chunks, function);
    info.varied.assign(function.getNumArguments(), false);
    info.parameter.assign(function.getNumArguments(), true);
    info.accumulated.assign(function.getNumArguments(), true);
    info.accumulatorStorage.assign(function.getNumArguments(), nullptr);
    info.free.assign(function.getNumArguments(), true);
    info.useful.assign(function.getNumResults(), false);
    info.shared.assign(function.getNumArguments(), false);
    info.awaited.assign(function.getNumArguments(), false);
    if (info.isChunk && failed(activity.initialiseChunk(info)))
      return failure();
    if (function == chunks.back() && failed(checkLoss(info)))
      return failure();
  }
  if (failed(checkLosses(chunks)))
    return failure();
  activity.findShared(chunks);
  activity.linkChunks(chunks);
  for (auto &entry : activity.functions)
    activity.visitBody(entry.second);
  activity.functions.remove_if(
      [](auto &entry) { return !entry.second.isChunk && !llvm::is_contained(entry.second.useful, true); });
  activity.classifyWeights();
  return activity;
}

SmallVector<const FunctionInfo *> Activity::getCalleesFirst() const {
  SmallVector<const FunctionInfo *> order;
  for (const auto &entry : functions)
    order.push_back(&entry.second);
  std::reverse(order.begin(), order.end());
  return order;
}

//===----------------------------------------------------------------------===//
// Roles of arguments and results
//===----------------------------------------------------------------------===//

LogicalResult Activity::initialiseChunk(FunctionInfo &info) {
  func::FuncOp function = info.function;
  DenseSet<StringRef> bound;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    bool isFloat = isFloatTensor(function.getArgument(index).getType());
    FlatSymbolRefAttr bind = getVariable(function, index);
    auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : nullptr;
    bool isParameter = variable && variable.isTrained() && isFloat;
    if (isParameter && !bound.insert(bind.getValue()).second) {
      InFlightDiagnostic error = function.emitError("@")
                                 << function.getName() << ": argument " << index << " binds parameter "
                                 << bind << ", which another argument binds already; pass it once";
      error.attachNote(variable.getLoc()) << "the parameter";
      return error;
    }
    info.free[index] = bind || !getInputName(function, index).empty();
    info.parameter[index] = info.accumulated[index] = isParameter;
    if (isParameter)
      info.accumulatorStorage[index] = getStateStorage(variable, Role::Accumulator);
    info.varied[index] = isFloat && (isParameter || !info.free[index]);
  }
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    std::optional<OutputKind> output = getOutput(function, index);
    bool isFloat = isFloatTensor(function.getResultTypes()[index]);
    info.useful[index] = isFloat && (!output || isLoss(function, index));
  }
  return success();
}

/// The loss comes from the last chunk; one before it may pass on nothing that has a gradient.
LogicalResult Activity::checkLoss(const FunctionInfo &info) {
  if (llvm::is_contained(info.useful, true))
    return success();
  func::FuncOp function = info.function;
  return function.emitError("@") << function.getName()
                                 << " has no result that is #par.place<output loss> and passes nothing on";
}

/// Each loss comes from one chunk, and one of several is the main one.
LogicalResult Activity::checkLosses(ArrayRef<func::FuncOp> chunks) {
  llvm::MapVector<Attribute, func::FuncOp> makers; // by name
  for (func::FuncOp chunk : chunks)
    for (unsigned result = 0; result < chunk.getNumResults(); ++result) {
      if (!isLoss(chunk, result))
        continue;
      PlaceAttr place = getResultPlace(chunk, result);
      auto [first, isNew] = makers.try_emplace(place.getLoss(), chunk);
      if (isNew)
        continue;
      InFlightDiagnostic error = chunk.emitError("@") << chunk.getName() << " returns " << place
                                                      << ", as another chunk does; pass "
                                                      << "the sum on as a boundary, and return it once";
      error.attachNote(first->second.getLoc()) << "the other chunk";
      return error;
    }
  if (makers.empty() || makers.count(Attribute()))
    return success();
  return makers.front().second.emitError("@")
         << makers.front().second.getName() << " has the loss " << makers.front().first
         << ", but no main one; leave one loss without a name: #par.place<output loss>";
}

void Activity::findShared(ArrayRef<func::FuncOp> chunks) {
  std::map<int64_t, llvm::DenseMap<Attribute, int64_t>> readers; // by stage and variable
  for (func::FuncOp chunk : chunks)
    for (BlockArgument argument : chunk.getArguments())
      if (FlatSymbolRefAttr variable = getVariable(argument))
        ++readers[getStage(chunk)][variable];
  for (func::FuncOp chunk : chunks)
    for (BlockArgument argument : chunk.getArguments())
      if (FlatSymbolRefAttr variable = getVariable(argument))
        functions.find(chunk.getNameAttr())->second.shared[argument.getArgNumber()] =
            readers[getStage(chunk)][variable] > 1;
}

/// Values through which a cotangent comes in, and those from which such a value follows.
static DenseSet<Value> collectUseful(const FunctionInfo &info, const DenseSet<Value> &varied) {
  Block &body = info.function.getBody().front();
  DenseSet<Value> useful;
  for (auto [flag, value] : llvm::zip(info.useful, body.getTerminator()->getOperands()))
    if (flag && varied.contains(value))
      useful.insert(value);
  extendUseful(body, useful);
  return useful;
}

/// What crosses a cut depends on parameters if it does in the chunk that makes it, and has a cotangent if in
/// the chunk that takes it something depends on it.
void Activity::linkChunks(ArrayRef<func::FuncOp> chunks) {
  auto infoOf = [&](func::FuncOp chunk) -> FunctionInfo & {
    return functions.find(chunk.getNameAttr())->second;
  };
  auto forBoundaries = [](func::FuncOp before, func::FuncOp behind, auto visit) {
    for (unsigned result = 0; result < before.getNumResults(); ++result)
      if (std::optional<int64_t> number = getResultBoundary(before, result))
        if (auto argument = findArgument(behind, PlaceAttr::ofBoundary(before.getContext(), *number)))
          visit(result, *argument);
  };
  for (size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
    func::FuncOp before = chunks[chunk], behind = chunks[chunk + 1];
    DenseSet<Value> varied = collectVaried(before.front(), infoOf(before).varied);
    forBoundaries(before, behind, [&](unsigned result, unsigned argument) {
      bool isVaried = varied.contains(before.front().getTerminator()->getOperand(result));
      infoOf(behind).varied[argument] = infoOf(behind).varied[argument] && isVaried;
    });
  }
  for (size_t chunk = chunks.size(); chunk-- > 1;) {
    func::FuncOp before = chunks[chunk - 1], behind = chunks[chunk];
    FunctionInfo &info = infoOf(behind);
    DenseSet<Value> useful = collectUseful(info, collectVaried(behind.front(), info.varied));
    forBoundaries(before, behind, [&](unsigned result, unsigned argument) {
      bool flows = info.varied[argument] && useful.contains(behind.getArgument(argument));
      info.awaited[argument] = infoOf(before).useful[result] = flows;
    });
  }
}

void Activity::visitBody(FunctionInfo &info) {
  Block &body = info.function.getBody().front();
  DenseSet<Value> varied = collectVaried(body, info.varied);
  DenseSet<Value> free = collectFree(body, info.free);
  DenseSet<Value> useful = collectUseful(info, varied);
  for (CallOp call : body.getOps<CallOp>())
    visitCall(call, info, varied, useful, free);
}

void Activity::visitCall(CallOp call, const FunctionInfo &caller, const DenseSet<Value> &varied,
                         const DenseSet<Value> &useful, const DenseSet<Value> &free) {
  auto flows = [&](Value result) { return useful.contains(result) && varied.contains(result); };
  if (llvm::none_of(call.getResults(), flows))
    return;
  activeCalls.insert(call);
  FunctionInfo &callee = functions.find(StringAttr::get(call.getContext(), call.getCallee()))->second;
  for (auto [index, result] : llvm::enumerate(call.getResults()))
    callee.useful[index] = callee.useful[index] || flows(result);
  for (auto [index, operand] : llvm::enumerate(call.getInputs())) {
    auto argument = dyn_cast<BlockArgument>(operand);
    // An accumulator handed to two arguments of one call could not be updated in place by both.
    bool direct = argument && caller.accumulated[argument.getArgNumber()] &&
                  !caller.accumulatorStorage[argument.getArgNumber()] &&
                  llvm::count(call.getInputs(), operand) == 1;
    callee.varied[index] = callee.varied[index] || varied.contains(operand);
    callee.parameter[index] =
        callee.parameter[index] && argument && caller.parameter[argument.getArgNumber()];
    callee.accumulated[index] = callee.accumulated[index] && direct;
    callee.free[index] = callee.free[index] && free.contains(operand);
  }
}

//===----------------------------------------------------------------------===//
// Weight part of a split backward pass
//===----------------------------------------------------------------------===//

/// A parameter of rank ≥ 2 belongs to the weight part when contractions and lookups (ops that are not cheap)
/// use it, directly or through views. A bias of rank 2 is added by a cheap op with two operands: its gradient
/// is a by-product of the input part.
bool Activity::isParametricUse(Value value) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (activeCalls.contains(op)) {
      FunctionInfo &callee =
          functions.find(StringAttr::get(op->getContext(), cast<CallOp>(op).getCallee()))->second;
      unsigned index = use.getOperandNumber();
      return static_cast<bool>(callee.weight[index]);
    }
    if (!isCheapToRecompute(op))
      return !op->hasTrait<OpTrait::IsTerminator>();
    return op->getNumOperands() == 1 && isParametricUse(op->getResult(0));
  });
}

/// Takes from the weight part what is used otherwise, here or by a callee of the same parameter. True
/// if anything changed.
bool Activity::dropWeights(FunctionInfo &info) {
  bool changed = false;
  for (BlockArgument argument : info.function.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (info.weight[index] && !isParametricUse(argument)) {
      info.weight[index] = false;
      changed = true;
    }
    if ((!info.accumulated[index] && !info.parameter[index]) || info.weight[index])
      continue;
    for (OpOperand &use : argument.getUses()) {
      if (!activeCalls.contains(use.getOwner()))
        continue;
      auto call = cast<CallOp>(use.getOwner());
      FunctionInfo &callee = functions.find(StringAttr::get(call.getContext(), call.getCallee()))->second;
      changed |= callee.weight[use.getOperandNumber()];
      callee.weight[use.getOperandNumber()] = false;
    }
  }
  return changed;
}

/// Some value within is too large to exist whole, let alone to be handed to another function.
static bool hasLargeValues(func::FuncOp function) {
  const Target *target = getTarget(function->getParentOfType<ModuleOp>());
  bool isLarge = false;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      isLarge |=
          isFloatTensor(result.getType()) && target && getLocalBytes(result) > target->limits.largestValue;
  });
  return isLarge;
}

void Activity::classifyWeights() {
  llvm::StringSet<> lossLayers;
  if (!functions.empty())
    lossLayers = findLossLayers(functions.begin()->second.function->getParentOfType<ModuleOp>());
  for (auto &entry : functions) {
    FunctionInfo &info = entry.second;
    info.weight.assign(info.varied.size(), false);
    // Gradients of logits are computed in parts, each with what it adds to the weight's gradient.
    bool isWhole = lossLayers.contains(info.function.getName()) && hasLargeValues(info.function);
    for (BlockArgument argument : info.function.getArguments()) {
      unsigned index = argument.getArgNumber();
      info.accumulated[index] = info.accumulated[index] && info.varied[index];
      bool isAdded = info.accumulated[index] || (info.parameter[index] && info.varied[index]);
      info.weight[index] = isAdded && !isWhole && cast<RankedTensorType>(argument.getType()).getRank() >= 2;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &entry : functions)
      changed |= dropWeights(entry.second);
  }
}
