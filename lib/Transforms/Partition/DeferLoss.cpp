//===- DeferLoss.cpp - the loss is computed where its gradient is ---------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Target/Target.h"
#include "par/Transforms/Partition/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_DEFERLOSS
#include "par/Transforms/Partition/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
/// The functions of one chunk; of a backward pass in two parts, `backward` is the input part.
struct Chunk {
  func::FuncOp forward, backward, weight;
};

/// A call in `forward` that makes the loss and residuals for one call in `backward`.
struct Head {
  par::CallOp forward, backward;
  SmallVector<unsigned> residuals; ///< results of the forward call that are residuals
};

class LossDeferral {
public:
  LossDeferral(Chunk chunk, SymbolTable &symbols, int64_t limit)
      : chunk(chunk), symbols(symbols), limit(limit), builder(chunk.forward.getContext()) {}

  void run() {
    std::optional<Head> head = findHead();
    if (head)
      defer(*head);
  }

private:
  //===--------------------------------------------------------------------===//
  // Finding
  //===--------------------------------------------------------------------===//

  std::optional<Head> findHead() {
    for (auto call : chunk.forward.getOps<par::CallOp>())
      if (std::optional<Head> head = matchHead(call))
        return head;
    return std::nullopt;
  }

  /// All results are scalars on their way to what is returned, or residuals that one call of the backward
  /// function reads; some residual is large.
  std::optional<Head> matchHead(par::CallOp call) {
    Head head{call, {}, {}};
    bool large = false;
    for (auto [number, result] : llvm::enumerate(call.getOutputs())) {
      auto type = cast<RankedTensorType>(result.getType());
      if (type.getRank() == 0) {
        if (!isOnlyReturned(result, call))
          return std::nullopt;
        continue;
      }
      std::optional<int64_t> residual = getSaved(result);
      std::optional<unsigned> reader = residual ? findReader(*residual) : std::nullopt;
      if (!reader || isReadByWeight(*residual))
        return std::nullopt;
      BlockArgument argument = chunk.backward.getArgument(*reader);
      auto user = argument.hasOneUse() ? dyn_cast<par::CallOp>(*argument.getUsers().begin()) : par::CallOp();
      if (!user || (head.backward && head.backward != user))
        return std::nullopt;
      head.backward = user;
      head.residuals.push_back(number);
      large |= getTensorBytes(type) > limit;
    }
    return large && mayMoveOperands(call) ? std::optional(head) : std::nullopt;
  }

  bool isOnlyReturned(Value scalar, par::CallOp call) {
    return llvm::all_of(scalar.getUsers(), [&](Operation *user) {
      return isa<func::ReturnOp>(user) ||
             (isMovable(user->getResult(0), call) && isOnlyReturned(user->getResult(0), call));
    });
  }

  /// A scalar that the backward function can make too, of the call's results and of what it can bring.
  bool isMovable(Value value, par::CallOp call) {
    if (cast<RankedTensorType>(value.getType()).getRank() != 0)
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return getSource(argument) != nullptr;
    Operation *op = value.getDefiningOp();
    return op == call ||
           (isa<arith::AddFOp, arith::MulFOp>(op) &&
            llvm::all_of(op->getOperands(), [&](Value operand) { return isMovable(operand, call); }));
  }

  func::ReturnOp getReturn(func::FuncOp function) {
    return cast<func::ReturnOp>(function.front().getTerminator());
  }

  /// The residual that a value is returned as, if that is all that becomes of it.
  std::optional<int64_t> getSaved(Value value) {
    if (!value.hasOneUse() || !isa<func::ReturnOp>(*value.getUsers().begin()))
      return std::nullopt;
    return getResultResidual(chunk.forward, value.getUses().begin()->getOperandNumber());
  }

  /// The argument of the backward function that a residual is.
  std::optional<unsigned> findReader(int64_t residual) {
    return findArgument(chunk.backward, PlaceAttr::ofResidual(builder.getContext(), residual));
  }

  bool isReadByWeight(int64_t residual) {
    return chunk.weight &&
           findArgument(chunk.weight, PlaceAttr::ofResidual(builder.getContext(), residual)).has_value();
  }

  /// Arguments are read again; what was received, and values of the forward function, become residuals.
  bool mayMoveOperands(par::CallOp call) {
    return llvm::all_of(call.getInputs(), [&](Value operand) {
      auto argument = dyn_cast<BlockArgument>(operand);
      return !argument || getSource(argument) || getBoundary(chunk.forward, argument.getArgNumber());
    });
  }

  /// Where an argument comes from, if the backward function can have it from there too; else null.
  PlaceAttr getSource(BlockArgument argument) {
    PlaceAttr place = getPlace(chunk.forward, argument.getArgNumber());
    return place && (place.getVariable() || place.isInput()) ? place : nullptr;
  }

  //===--------------------------------------------------------------------===//
  // Moving
  //===--------------------------------------------------------------------===//

  void defer(Head head) {
    IRMapping mapping;
    SmallVector<Value> operands;
    for (Value operand : head.forward.getInputs())
      operands.push_back(bring(operand, head.backward));
    SmallVector<unsigned> added; // operands of the backward call that come to those
    for (auto [number, operand] : llvm::enumerate(head.backward.getInputs()))
      if (!isResidual(head, operand) && !llvm::is_contained(operands, operand)) {
        operands.push_back(operand);
        added.push_back(number);
      }
    func::FuncOp joint = join(head, operands, added);
    builder.setInsertionPoint(head.backward);
    auto call = builder.create<par::CallOp>(head.backward.getLoc(), joint.getResultTypes(),
                                            joint.getSymName(), operands);
    par::CallOp forward = head.forward, backward = head.backward;
    backward.getResults().replaceAllUsesWith(call.getResults().take_front(backward.getNumResults()));
    backward.erase();
    unsigned next = joint.getNumResults() - (forward.getNumResults() - head.residuals.size());
    for (Value result : forward.getOutputs())
      if (cast<RankedTensorType>(result.getType()).getRank() == 0)
        mapping.map(result, call.getResult(next++));
    builder.setInsertionPoint(getReturn(chunk.backward));
    moveScalars(forward, mapping);
    eraseResults(forward);
    eraseUnused(chunk.forward);
    eraseUnused(chunk.backward);
  }

  /// True for an operand of the backward call that is a residual of the forward call.
  bool isResidual(Head head, Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument)
      return false;
    std::optional<int64_t> number = getResidual(chunk.backward, argument.getArgNumber());
    return number && llvm::any_of(head.residuals, [&](unsigned result) {
             unsigned place = head.forward.getResult(result).getUses().begin()->getOperandNumber();
             return getResultResidual(chunk.forward, place) == number;
           });
  }

  /// One function that does what both calls did. Its arguments are those of the forward one, then the `added`
  /// ones of the backward one: what `operands` are. Its results are those of the backward one, then the loss.
  func::FuncOp join(Head head, ArrayRef<Value> operands, ArrayRef<unsigned> added) {
    auto forward = symbols.lookup<func::FuncOp>(head.forward.getCallee());
    auto backward = symbols.lookup<func::FuncOp>(head.backward.getCallee());
    SmallVector<Type> inputs(forward.getArgumentTypes()), outputs(backward.getResultTypes());
    for (unsigned argument : added)
      inputs.push_back(backward.getArgumentTypes()[argument]);
    for (Type type : forward.getResultTypes())
      if (cast<RankedTensorType>(type).getRank() == 0)
        outputs.push_back(type);
    builder.setInsertionPointAfter(backward);
    auto joint = builder.create<func::FuncOp>(backward.getLoc(), (backward.getSymName() + ".loss").str(),
                                              builder.getFunctionType(inputs, outputs));
    joint.setPrivate();
    joint->setDiscardableAttrs(backward->getDiscardableAttrDictionary());
    symbols.insert(joint);
    SmallVector<unsigned> places; // arguments of `joint` that those of `backward` are; any for residuals
    for (Value operand : head.backward.getInputs())
      places.push_back(llvm::find(operands, operand) - operands.begin());
    describe(joint, forward, backward, added, places);
    fill(joint, head, forward, backward, places);
    return joint;
  }

  static void describe(func::FuncOp joint, func::FuncOp forward, func::FuncOp backward,
                       ArrayRef<unsigned> added, ArrayRef<unsigned> places) {
    unsigned before = forward.getNumArguments(), next = backward.getNumResults();
    for (unsigned argument = 0; argument < before; ++argument)
      joint.setArgAttrs(argument, forward.getArgAttrDict(argument));
    for (auto [place, argument] : llvm::enumerate(added))
      joint.setArgAttrs(before + place, backward.getArgAttrDict(argument));
    for (unsigned result = 0; result < backward.getNumResults(); ++result) {
      joint.setResultAttrs(result, backward.getResultAttrDict(result));
      if (std::optional<int64_t> alias = getAlias(backward, result))
        setResultPlace(joint, result, PlaceAttr::ofAlias(joint.getContext(), places[*alias]));
    }
    for (unsigned result = 0; result < forward.getNumResults(); ++result)
      if (cast<RankedTensorType>(forward.getResultTypes()[result]).getRank() == 0)
        joint.setResultAttrs(next++, forward.getResultAttrDict(result));
  }

  void fill(func::FuncOp joint, Head head, func::FuncOp forward, func::FuncOp backward,
            ArrayRef<unsigned> places) {
    OpBuilder inside = OpBuilder::atBlockBegin(joint.addEntryBlock());
    IRMapping mapping;
    mapping.map(forward.getArguments(), joint.getArguments().take_front(forward.getNumArguments()));
    for (Operation &op : forward.front().without_terminator())
      inside.clone(op, mapping);
    func::ReturnOp made = getReturn(forward);
    for (auto [number, operand] : llvm::enumerate(head.backward.getInputs()))
      mapping.map(backward.getArgument(number),
                  isResidual(head, operand)
                      ? mapping.lookupOrDefault(made.getOperand(findMaker(head.forward, operand)))
                      : joint.getArgument(places[number]));
    for (Operation &op : backward.front().without_terminator())
      inside.clone(op, mapping);
    SmallVector<Value> results;
    for (Value result : getReturn(backward).getOperands())
      results.push_back(mapping.lookupOrDefault(result));
    for (Value result : made.getOperands())
      if (cast<RankedTensorType>(result.getType()).getRank() == 0)
        results.push_back(mapping.lookupOrDefault(result));
    inside.create<func::ReturnOp>(joint.getLoc(), results);
  }

  /// The result of the forward call that the residual `operand` is.
  unsigned findMaker(par::CallOp forward, Value operand) {
    std::optional<int64_t> number = getResidual(chunk.backward, cast<BlockArgument>(operand).getArgNumber());
    for (OpOperand &use : getReturn(chunk.forward)->getOpOperands())
      if (getResultResidual(chunk.forward, use.getOperandNumber()) == number)
        return cast<OpResult>(use.get()).getResultNumber();
    return 0;
  }

  /// A value of the forward function in the backward function, where `before` needs it.
  Value bring(Value value, Operation *before) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && getSource(argument))
      return bringArgument(argument);
    if (!argument && isGathered(value))
      return gatherAgain(value, before);
    func::ReturnOp exit = getReturn(chunk.forward);
    for (OpOperand &use : exit->getOpOperands())
      if (std::optional<int64_t> number = getResultResidual(chunk.forward, use.getOperandNumber());
          number && use.get() == value)
        if (std::optional<unsigned> argument = findReader(*number))
          return chunk.backward.getArgument(*argument);
    return addResidual(value);
  }

  Value bringArgument(BlockArgument argument) {
    if (std::optional<unsigned> known = findArgument(chunk.backward, getSource(argument)))
      return chunk.backward.getArgument(*known);
    unsigned number = chunk.backward.getNumArguments();
    chunk.backward.insertArgument(number, argument.getType(),
                                  chunk.forward.getArgAttrDict(argument.getArgNumber()), argument.getLoc());
    return chunk.backward.getArgument(number);
  }

  /// An op that brings a parameter from where it is stored to where it is used.
  static bool isGather(Operation *op) {
    OpClass opClass = getOpClass(op);
    return op->getNumOperands() == 1 && (isa<AllGatherOp>(op) || opClass == OpClass::View ||
                                         opClass == OpClass::Permutes || opClass == OpClass::Slices);
  }

  /// A parameter that the forward function gathered. Kept for the backward pass it would exist whole in
  /// between.
  bool isGathered(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isGather(op))
        return false;
      value = op->getOperand(0);
    }
    return getVariable(value) != nullptr;
  }

  /// What the backward function gathers already, else the same ops there.
  Value gatherAgain(Value value, Operation *before) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return bringArgument(argument);
    Operation *op = value.getDefiningOp();
    Value operand = gatherAgain(op->getOperand(0), before);
    for (Operation *user : operand.getUsers())
      if (user->getName() == op->getName() && user->getResultTypes() == op->getResultTypes() &&
          user->getAttrDictionary() == op->getAttrDictionary()) {
        if (before->isBeforeInBlock(user))
          user->moveBefore(before);
        return user->getResult(0);
      }
    builder.setInsertionPoint(before);
    IRMapping mapping;
    mapping.map(op->getOperand(0), operand);
    return builder.clone(*op, mapping)->getResult(0);
  }

  Value addResidual(Value value) {
    int64_t next = 0;
    for (func::FuncOp function : {chunk.forward, chunk.backward})
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (std::optional<int64_t> number = getResultResidual(function, result))
          next = std::max(next, *number + 1);
    auto attrs = builder.getDictionaryAttr(
        builder.getNamedAttr(ParDialect::kPlaceAttr, PlaceAttr::ofResidual(builder.getContext(), next)));
    func::ReturnOp exit = getReturn(chunk.forward);
    chunk.forward.insertResult(chunk.forward.getNumResults(), value.getType(), attrs);
    exit->insertOperands(exit.getNumOperands(), value);
    unsigned number = chunk.backward.getNumArguments();
    chunk.backward.insertArgument(number, value.getType(), attrs, value.getLoc());
    return chunk.backward.getArgument(number);
  }

  /// What the forward function did with the loss, now in the backward function.
  void moveScalars(par::CallOp forward, IRMapping &mapping) {
    func::ReturnOp from = getReturn(chunk.forward), to = getReturn(chunk.backward);
    for (OpOperand &use : from->getOpOperands()) {
      if (!derivesFrom(use.get(), forward) || !isMovable(use.get(), forward))
        continue;
      Value moved = moveScalar(use.get(), mapping);
      chunk.backward.insertResult(chunk.backward.getNumResults(), moved.getType(),
                                  chunk.forward.getResultAttrDict(use.getOperandNumber()));
      to->insertOperands(to.getNumOperands(), moved);
    }
  }

  /// A scalar and all that it is made of.
  Value moveScalar(Value value, IRMapping &mapping) {
    if (Value moved = mapping.lookupOrNull(value))
      return moved;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      mapping.map(value, bringArgument(argument));
      return mapping.lookup(value);
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      moveScalar(operand, mapping);
    return builder.clone(*value.getDefiningOp(), mapping)->getResult(0);
  }

  /// Results of the forward function that the call made.
  void eraseResults(par::CallOp forward) {
    func::ReturnOp exit = getReturn(chunk.forward);
    llvm::BitVector gone(exit.getNumOperands());
    for (OpOperand &use : exit->getOpOperands())
      gone[use.getOperandNumber()] = derivesFrom(use.get(), forward);
    exit->eraseOperands(gone);
    chunk.forward.eraseResults(gone);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(chunk.forward.front())))
      if (op.use_empty() && (&op == forward || isa<arith::AddFOp, arith::MulFOp>(op) || isGather(&op)))
        op.erase();
  }

  static bool derivesFrom(Value value, Operation *op) {
    Operation *maker = value.getDefiningOp();
    if (!maker)
      return false;
    if (maker == op)
      return true;
    return isa<arith::AddFOp, arith::MulFOp>(maker) &&
           llvm::any_of(maker->getOperands(), [&](Value operand) { return derivesFrom(operand, op); });
  }

  static void eraseUnused(func::FuncOp function) {
    llvm::BitVector unused(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      unused[argument.getArgNumber()] = argument.use_empty();
    function.eraseArguments(unused);
  }

  Chunk chunk;
  SymbolTable &symbols;
  int64_t limit;
  OpBuilder builder;
};

struct DeferLoss : par::impl::DeferLossBase<DeferLoss> {
  using DeferLossBase::DeferLossBase;

  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    ChunkFunctions functions(getOperation());
    SymbolTable symbols(getOperation());
    std::set<int64_t> reducedInLast = functions.getReducedInLast();
    for (int64_t number : functions.getChunks()) {
      Chunk chunk{functions.find(Phase::Forward, number), functions.find(Phase::Backward, number), {}};
      func::FuncOp input = functions.find(Phase::BackwardInput, number);
      // Several would have to change alike: dualpipe-v runs both kinds, par-fuse-reduction adds one.
      if ((chunk.backward && input) || reducedInLast.count(number))
        continue;
      if (input)
        chunk = {chunk.forward, input, functions.find(Phase::BackwardWeight, number)};
      if (chunk.forward && chunk.backward)
        LossDeferral(chunk, symbols, limit < 0 ? target->limits.largestValue : limit).run();
    }
  }
};
} // namespace
