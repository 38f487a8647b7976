//===- BufferAssignment.cpp - where the values of a function lie ----------------------------------------===//
#include "BufferAssignment.h"
#include "InPlace.h"

using namespace mlir;
using namespace mlir::par;

/// Where an op is done with its operands: what is started, at its wait.
static Operation *getEnd(Operation *op) {
  return op->hasAttr(ParDialect::kStartedAttr) ? *op->getUsers().begin() : op;
}

/// What a collective's result is once it is there.
static Value settle(Value value) {
  Operation *op = value.getDefiningOp();
  bool isStarted = op && op->hasAttr(ParDialect::kStartedAttr);
  return isStarted ? getEnd(op)->getResult(cast<OpResult>(value).getResultNumber()) : value;
}

/// Through views, which share the buffer.
static Value strip(Value value) {
  for (Operation *op = value.getDefiningOp(); op && getOpClass(op) == OpClass::View;
       op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

/// What a collective that works in place makes `value` of.
static Value findReduced(Value value) {
  auto collective = value.getDefiningOp<CollectiveOpInterface>();
  return collective && collective.worksInPlace()
             ? collective->getOperand(cast<OpResult>(value).getResultNumber())
             : Value();
}

/// `reader` and all that reads the buffer through it stand before `op`.
static bool isOver(Operation *reader, Operation *op) {
  return getEnd(reader)->isBeforeInBlock(op) &&
         (getOpClass(reader) != OpClass::View ||
          llvm::all_of(reader->getUsers(), [&](Operation *user) { return isOver(user, op); }));
}

static Work collectWork(ArrayRef<Operation *> ops) {
  Work work{llvm::to_vector(ops), {}, {}};
  llvm::SmallPtrSet<Operation *, 8> inside(ops.begin(), ops.end());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && !llvm::is_contained(work.ins, operand))
        work.ins.push_back(operand);
    // Library calls and collectives write all their results.
    bool writesAll = !op->hasAttr(ParDialect::kKernelAttr);
    bool isLibrary = isa<LibraryOpInterface>(op);
    for (Value result : op->getResults())
      if (writesAll || (isLibrary && result.use_empty()) ||
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        work.outs.push_back(result);
  }
  return work;
}

namespace {
class Assigner {
public:
  Assigner(func::FuncOp function, const FunctionsByName &functions, OverwrittenArguments &overwrites)
      : function(function), functions(functions), overwrites(overwrites),
        exit(cast<func::ReturnOp>(function.front().getTerminator())), overwritten(overwrites.get(function)) {
    for (auto [result, returned] : llvm::enumerate(exit.getOperands()))
      returns[strip(returned)].push_back(result);
    for (Operation &op : function.front())
      if (auto kernel = op.getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr))
        members[kernel.getInt()].push_back(&op);
    for (BlockArgument argument : function.getArguments())
      assigned.values[argument] = {Assignment::Argument, {}, 0};
  }

  BufferAssignment run() {
    for (Operation &op : function.front().without_terminator())
      visit(&op);
    return std::move(assigned);
  }

private:
  void visit(Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr)) {
      ArrayRef<Operation *> kernel = members[number.getInt()];
      if (op == kernel.back())
        assign(collectWork(kernel));
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      assigned.values[reshape.getResult()] = {Assignment::View, reshape.getInput(), 0};
    } else if (auto call = dyn_cast<par::CallOp>(op)) {
      visitCall(call);
    } else if (auto wait = dyn_cast<par::WaitOp>(op)) {
      for (auto [started, result] : llvm::zip(wait.getStarted(), wait.getResults()))
        assigned.values[result] = {Assignment::View, started, 0};
      done.insert(wait.getCollective());
    } else {
      assign(collectWork(op));
    }
  }

  void assign(Work work) {
    for (Value out : work.outs)
      assigned.values[out] = choose(out, work);
    Operation *last = work.ops.back();
    if (!last->hasAttr(ParDialect::kStartedAttr))
      done.insert(work.ops.begin(), work.ops.end());
    assigned.works[last] = std::move(work);
  }

  /// Results that overwrite an operand share its buffer, or that of a copy if anybody else needs the operand.
  void visitCall(par::CallOp call) {
    for (auto [number, result] : llvm::enumerate(call.getOutputs())) {
      std::optional<unsigned> tied = overwrites.get(functions.lookup(call.getCallee()))[number];
      Value operand = tied ? call.getInputs()[*tied] : Value();
      assigned.values[result] = operand && mayConsume(operand, result)
                                    ? Assignment{Assignment::Reuses, operand, 0}
                                    : choose(result, {{call}, {}, {}});
    }
    done.insert(call);
  }

  //===--------------------------------------------------------------------===//
  // Choice
  //===--------------------------------------------------------------------===//

  /// Where `value`, computed by `work`, goes: straight into the result if nobody reads what lies there any
  /// more; what is added to a sum, to the sum.
  Assignment choose(Value value, const Work &work) {
    Value sum = findSum(work.ops, value), reduced = findReduced(value);
    if (sum && !sum.hasOneUse())
      sum = {}; // others read what it is added to
    for (unsigned result : returns.lookup(followReductions(followSums(settle(value))))) {
      if (sum && liesIn(sum, result))
        return {Assignment::AddsInto, sum, 0};
      if (reduced && liesIn(reduced, result))
        return {Assignment::Reuses, reduced, 0};
      if (mayWrite(result, value, work)) {
        written.insert(result);
        return {Assignment::Writes, {}, result};
      }
    }
    if (sum && isOwn(sum))
      return {Assignment::AddsInto, sum, 0};
    for (Value in : work.ins)
      if (isOwn(in) && mayReuse(in, value, work)) {
        taken.insert(in);
        return {Assignment::Reuses, in, 0};
      }
    return {Assignment::Fresh, {}, 0};
  }

  /// How the buffer came to be in which a value lies.
  Assignment getRoot(Value value) const {
    Assignment found = assigned.values.lookup(value);
    while (found.of)
      found = assigned.values.lookup(found.of);
    return found;
  }

  bool liesIn(Value value, unsigned result) const {
    Assignment root = getRoot(value);
    return root.kind == Assignment::Writes && root.result == result;
  }

  /// A buffer of this function that no view shares.
  bool isOwn(Value value) const { return value == strip(value) && getRoot(value).kind == Assignment::Fresh; }

  /// `work` is all that reads `in`, each element where it writes that of `value`. Outputs of other shapes
  /// have loops of their own, before or after.
  bool mayReuse(Value in, Value value, const Work &work) const {
    bool oneShape = llvm::all_of(work.outs, [&](Value out) { return out.getType() == value.getType(); });
    return oneShape && !taken.contains(in) && mayShare(work.ops, in, value) &&
           llvm::all_of(in.getUsers(), [&](Operation *user) {
             return llvm::is_contained(work.ops, user) || isOver(user, work.ops.front());
           });
  }

  /// A result that overwrites an argument may be written by `work` if nobody reads the argument later and
  /// `work` reads it only where it writes.
  bool mayWrite(unsigned result, Value value, const Work &work) {
    if (written.contains(result) || !overwritten[result])
      return !written.contains(result);
    BlockArgument argument = function.getArgument(*overwritten[result]);
    return mayShare(work.ops, argument, value) && llvm::all_of(argument.getUsers(), [&](Operation *user) {
             return done.contains(user) || llvm::is_contained(work.ops, user);
           });
  }

  /// The call is the only reader, and the buffer is this function's own or one that it may overwrite: an
  /// argument is given up only if the result that overwrites it is what this call makes of it.
  bool mayConsume(Value operand, Value result) {
    Value root = strip(operand);
    if (!operand.hasOneUse() || !root.hasOneUse())
      return false;
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument)
      return root == operand && !llvm::is_contained(root.getUsers(), exit);
    for (auto [number, over] : llvm::enumerate(overwritten))
      if (over == argument.getArgNumber() && derivesFrom(exit.getOperand(number), result))
        return true;
    return false;
  }

  //===--------------------------------------------------------------------===//
  // What becomes of a value
  //===--------------------------------------------------------------------===//

  /// A value of which nothing but a sum over ranks is made.
  Value followReductions(Value value) {
    while (value.hasOneUse() && !returns.contains(value)) {
      OpOperand &use = *value.getUses().begin();
      auto collective = dyn_cast<CollectiveOpInterface>(use.getOwner());
      if (!collective || !collective.worksInPlace())
        break;
      value = settle(collective->getResult(use.getOperandNumber()));
    }
    return value;
  }

  /// A sum to which products are added, one after the other, or calls add.
  Value followSums(Value value) {
    while (value.hasOneUse() && !returns.contains(value)) {
      Operation *user = *value.getUsers().begin();
      if (Value overwriting = findOverwriting(*value.getUses().begin())) {
        value = overwriting;
        continue;
      }
      auto number = user->getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr);
      if (!isa<arith::AddFOp>(user) || !number || !isProductSum(members[number.getInt()]))
        break;
      value = user->getResult(0);
    }
    return value;
  }

  /// The result of a call that overwrites an operand.
  Value findOverwriting(OpOperand &use) {
    auto call = dyn_cast<par::CallOp>(use.getOwner());
    if (!call)
      return {};
    for (auto [number, tied] : llvm::enumerate(overwrites.get(functions.lookup(call.getCallee()))))
      if (tied == use.getOperandNumber())
        return call->getResult(number);
    return {};
  }

  /// What lay in the memory of `value` before: of a sum over ranks, its end, or a call's result that
  /// overwrites an operand.
  Value findBefore(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (auto wait = value.getDefiningOp<par::WaitOp>())
      return wait.getStarted()[result.getResultNumber()];
    auto call = value.getDefiningOp<par::CallOp>();
    if (!call)
      return findReduced(value);
    std::optional<unsigned> tied =
        overwrites.get(functions.lookup(call.getCallee()))[result.getResultNumber()];
    return tied ? call.getInputs()[*tied] : Value();
  }

  bool derivesFrom(Value value, Value result) {
    while (value && value != result)
      value = findBefore(value);
    return value != nullptr;
  }

  func::FuncOp function;
  const FunctionsByName &functions;
  OverwrittenArguments &overwrites;
  func::ReturnOp exit;
  ArrayRef<std::optional<unsigned>> overwritten;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> returns;   ///< value, views stripped → results that it is
  llvm::DenseMap<int64_t, SmallVector<Operation *>> members; ///< of a kernel, in order
  BufferAssignment assigned;
  llvm::DenseSet<unsigned> written; ///< results that some value is written to
  llvm::DenseSet<Operation *> done; ///< ops that run before what is visited next; views are none
  llvm::DenseSet<Value> taken;      ///< values in whose buffers others lie
};
} // namespace

BufferAssignment par::assignBuffers(func::FuncOp function, const FunctionsByName &functions,
                                    OverwrittenArguments &overwrites) {
  return Assigner(function, functions, overwrites).run();
}
