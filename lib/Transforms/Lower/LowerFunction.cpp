//===- LowerFunction.cpp - one function on tensors as a function on buffers -----------------------------===//
#include "InPlace.h"
#include "ToRank.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// What one rank.kernel, gemm, … computes.
struct Work {
  SmallVector<Operation *> ops;
  SmallVector<Value> ins, outs;
};

class FunctionLowering {
public:
  FunctionLowering(func::FuncOp function, const FunctionsByName &functions, OverwrittenArguments &overwrites,
                   const PinnedValues &pinned)
      : function(function), functions(functions), overwrites(overwrites), pinned(pinned), builder(function),
        exit(cast<func::ReturnOp>(function.front().getTerminator())), overwritten(overwrites.get(function)) {
    for (auto [result, argument] : llvm::enumerate(overwritten))
      if (argument)
        overwriters[*argument].push_back(result);
    for (auto [result, returned] : llvm::enumerate(exit.getOperands()))
      returns[strip(returned)].push_back(result);
    for (Operation &op : function.front())
      if (auto kernel = op.getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr))
        members[kernel.getInt()].push_back(&op);
  }

  LogicalResult run() {
    createFunction();
    for (Operation &op : function.front().without_terminator())
      if (failed(visit(&op)))
        return failure();
    writeResults();
    builder.create<rank::ReturnOp>(function.getLoc(), number(exit.getOperands()));
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Function
  //===--------------------------------------------------------------------===//

  rank::BufferType bufferType(int64_t bytes, bool isPinned) {
    return rank::BufferType::get(function.getContext(), bytes,
                                 isPinned ? rank::Space::Pinned : rank::Space::Device);
  }

  void createFunction() {
    SmallVector<Type> types;
    for (BlockArgument argument : function.getArguments()) {
      types.push_back(bufferType(rank::getBytes(argument.getType()), pinned.contains(argument)));
      number(argument);
    }
    for (auto [result, type] : llvm::enumerate(function.getResultTypes()))
      types.push_back(bufferType(rank::getBytes(type), pinned.containsResult(function, result)));
    OperationState state(function.getLoc(), rank::FuncOp::getOperationName());
    lowered = builder.create<rank::FuncOp>(function.getLoc(), builder.getStringAttr(function.getSymName()),
                                           TypeAttr::get(builder.getFunctionType(types, {})),
                                           builder.getI64IntegerAttr(function.getNumResults()), nullptr,
                                           describeOverwritten(), nullptr, nullptr);
    Block *block = builder.createBlock(&lowered.getBody());
    for (Type type : types)
      block->addArgument(type, function.getLoc());
    for (auto [number, argument] : llvm::enumerate(function.getArguments()))
      buffers[argument] = block->getArgument(number);
  }

  DenseI64ArrayAttr describeOverwritten() {
    if (overwriters.empty())
      return {};
    SmallVector<int64_t> arguments;
    for (std::optional<unsigned> argument : overwritten)
      arguments.push_back(argument ? static_cast<int64_t>(*argument) : -1);
    return builder.getDenseI64ArrayAttr(arguments);
  }

  //===--------------------------------------------------------------------===//
  // Numbers of values
  //===--------------------------------------------------------------------===//

  /// What lies in memory for `value`: views have the number of what they view, and so does what is only
  /// moved or waited for.
  int64_t number(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<ReshapeOp, TransferOp>(op))
        value = op->getOperand(0);
      else if (isa<par::WaitOp>(op))
        value = op->getOperand(cast<OpResult>(value).getResultNumber());
      else
        break;
    }
    return numbers.try_emplace(value, static_cast<int64_t>(numbers.size())).first->second;
  }

  DenseI64ArrayAttr number(ValueRange values) {
    SmallVector<int64_t> list;
    for (Value value : values)
      list.push_back(number(value));
    return builder.getDenseI64ArrayAttr(list);
  }

  void copy(Location loc, Value value, Value source, Value target) {
    builder.create<rank::CopyOp>(loc, source, target, builder.getI64IntegerAttr(number(value)), nullptr);
  }

  Value outParameter(unsigned result) {
    return lowered.getBody().getArgument(function.getNumArguments() + result);
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  Value allocate(Location loc, Value value, rank::Category category) {
    return builder.create<rank::AllocOp>(
        loc, bufferType(rank::getBytes(value.getType()), pinned.contains(value)), category);
  }

  /// Where `value`, computed by `work`, goes: straight into the result if nobody reads what lies there any
  /// more; what is added to a sum, to the sum.
  Value chooseOut(Value value, const Work &work, rank::Category category) {
    Value sum = WorkOps(work.ops).findSum(value), reduced = findReduced(value);
    if (sum && !sum.hasOneUse())
      sum = {}; // others read what it is added to
    for (unsigned result : returns.lookup(followReductions(followSums(settle(value))))) {
      if ((sum && buffers.lookup(sum) == outParameter(result)) ||
          (reduced && buffers.lookup(reduced) == outParameter(result)))
        return outParameter(result);
      if (!written.contains(result) && mayWrite(result, value, work)) {
        written.insert(result);
        return outParameter(result);
      }
    }
    if (sum && isOwn(sum))
      return buffers.lookup(sum);
    for (Value in : work.ins)
      if (isOwn(in) && mayReuse(in, value, work)) {
        taken.insert(in);
        return buffers.lookup(in);
      }
    return allocate(value.getLoc(), value, category);
  }

  /// A buffer of this function that no view shares.
  bool isOwn(Value value) {
    return value == strip(value) && buffers.lookup(value).getDefiningOp<rank::AllocOp>();
  }

  /// `work` is all that reads `in`, each element where it writes that of `value`. Outputs of other shapes
  /// have loops of their own, before or after.
  bool mayReuse(Value in, Value value, const Work &work) {
    bool oneShape = llvm::all_of(work.outs, [&](Value out) { return out.getType() == value.getType(); });
    WorkOps ops(work.ops);
    return oneShape && !taken.contains(in) && ops.mayShare(in, value) &&
           llvm::all_of(in.getUsers(), [&](Operation *user) {
             return ops.contains(user) || isOver(user, work.ops.front());
           });
  }

  /// `reader` and all that reads the buffer through it stand before `op`.
  static bool isOver(Operation *reader, Operation *op) {
    return getEnd(reader)->isBeforeInBlock(op) &&
           (!isa<ReshapeOp>(reader) ||
            llvm::all_of(reader->getUsers(), [&](Operation *user) { return isOver(user, op); }));
  }

  /// Where an op is done with its operands: what is started, at its wait.
  static Operation *getEnd(Operation *op) {
    return op->hasAttr(ParDialect::kStartedAttr) ? *op->getUsers().begin() : op;
  }

  /// What a collective's result is once it is there.
  static Value settle(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasAttr(ParDialect::kStartedAttr))
      return value;
    return getEnd(op)->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// What an all-reduce makes `value` of, which may be in place.
  static Value findReduced(Value value) {
    auto reduce = value.getDefiningOp<AllReduceOp>();
    return reduce ? reduce.getInputs()[cast<OpResult>(value).getResultNumber()] : Value();
  }

  /// What becomes of a value of which nothing but a sum over ranks is made.
  Value followReductions(Value value) {
    while (value.hasOneUse() && !returns.contains(value)) {
      OpOperand &use = *value.getUses().begin();
      if (!isa<AllReduceOp>(use.getOwner()))
        break;
      value = settle(use.getOwner()->getResult(use.getOperandNumber()));
    }
    return value;
  }

  /// What becomes of a sum to which products are added, one after the other, or calls add.
  Value followSums(Value value) {
    while (value.hasOneUse() && !returns.contains(value)) {
      Operation *user = *value.getUsers().begin();
      if (Value overwriting = findOverwriting(*value.getUses().begin())) {
        value = overwriting;
        continue;
      }
      auto number = user->getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr);
      if (!isa<arith::AddFOp>(user) || !number || !WorkOps(members[number.getInt()]).isProductSum())
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

  /// Through views, which share the buffer.
  static Value strip(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return value;
  }

  /// A result that overwrites an argument may be written by `work` if nobody reads the argument later and
  /// `work` reads it only where it writes.
  bool mayWrite(unsigned result, Value value, const Work &work) {
    if (!overwritten[result])
      return true;
    BlockArgument argument = function.getArgument(*overwritten[result]);
    WorkOps ops(work.ops);
    return ops.mayShare(argument, value) && llvm::all_of(argument.getUsers(), [&](Operation *user) {
             return emitted.contains(user) || ops.contains(user);
           });
  }

  /// True if some result is written over the argument that `buffer` is.
  bool isGivenUp(Value buffer) {
    auto argument = dyn_cast<BlockArgument>(buffer);
    return argument && overwriters.contains(argument.getArgNumber());
  }

  /// An argument that is returned while another result overwrites it is saved before any result is written.
  void writeResults() {
    struct Copy {
      Value value, source, target;
    };
    SmallVector<Copy> copies;
    for (auto [result, returned] : llvm::enumerate(exit.getOperands())) {
      Value source = buffers.lookup(returned), target = outParameter(result);
      bool inPlace = overwritten[result] && source == lowered.getBody().getArgument(*overwritten[result]);
      if (source == target || inPlace)
        continue;
      if (isGivenUp(source)) {
        Value saved = allocate(function.getLoc(), returned, rank::Category::Workspace);
        copy(function.getLoc(), returned, source, saved);
        source = saved;
      }
      copies.push_back({returned, source, target});
    }
    for (const Copy &each : copies)
      copy(function.getLoc(), each.value, each.source, each.target);
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  LogicalResult visit(Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(ParDialect::kKernelAttr))
      return visitMember(op, number.getInt());
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      buffers[reshape.getResult()] = buffers.lookup(reshape.getInput());
      return success();
    }
    if (auto call = dyn_cast<par::CallOp>(op))
      return visitCall(call);
    if (auto wait = dyn_cast<par::WaitOp>(op))
      return visitWait(wait);
    if (auto transfer = dyn_cast<TransferOp>(op))
      return visitTransfer(transfer);
    auto kernel = dyn_cast<KernelOpInterface>(op);
    switch (kernel ? kernel.getKernelKind() : KernelKind::None) {
    case KernelKind::Gemm:
      emit<rank::GemmOp>({{op}, {}, {}}, rank::Category::Workspace);
      return success();
    case KernelKind::Attention:
      emit<rank::AttentionOp>({{op}, {}, {}}, rank::Category::Workspace);
      return success();
    case KernelKind::Collective:
      if (op->hasAttr(ParDialect::kStartedAttr))
        emitStart(op);
      else
        emit<rank::CollectiveOp>({{op}, {}, {}}, rank::Category::Communication);
      return success();
    default:
      return op->emitOpError(
          "par-to-rank: the op belongs to no kernel; par-form-kernels should have grouped it");
    }
  }

  /// A kernel is emitted at its last member.
  LogicalResult visitMember(Operation *op, int64_t number) {
    ArrayRef<Operation *> kernel = members[number];
    if (op != kernel.back())
      return success();
    Work work{llvm::to_vector(kernel), {}, {}};
    // A library's work with what it is added to, or reads and writes parts of.
    if (llvm::any_of(kernel, [](Operation *member) { return isa<EinsumOp>(member); }))
      emit<rank::GemmOp>(std::move(work), rank::Category::Workspace);
    else if (llvm::any_of(kernel, isAttention))
      emit<rank::AttentionOp>(std::move(work), rank::Category::Workspace);
    else
      emit<rank::KernelOp>(std::move(work), rank::Category::Workspace);
    return success();
  }

  template <typename Op>
  Op emit(Work work, rank::Category category) {
    collectOperands(work);
    if (movesReceived(work))
      category = rank::Category::Communication;
    SmallVector<Value> ins, outs, scratch;
    for (Value in : work.ins)
      ins.push_back(buffers.lookup(in));
    for (Value out : work.outs) {
      outs.push_back(chooseOut(out, work, category));
      buffers[out] = outs.back();
    }
    Operation *first = work.ops.front();
    for (int64_t bytes : getScratchBytes(work.ops))
      scratch.push_back(builder.create<rank::AllocOp>(
          first->getLoc(), bufferType(bytes, pinned.contains(work.outs.front())), rank::Category::Workspace));
    SmallVector<Type> results;
    if (std::is_same_v<Op, rank::StartOp>)
      results.push_back(rank::EventType::get(function.getContext()));
    auto op = builder.create<Op>(first->getLoc(), results, ins, outs, scratch, number(work.ins),
                                 number(work.outs), nullptr, nullptr);
    if (Attribute cause = first->getAttr(ParDialect::kCauseAttr))
      op->setAttr(ParDialect::kCauseAttr, cause);
    fillRegion(op.getBody(), work);
    emitted.insert(work.ops.begin(), work.ops.end());
    return op;
  }

  /// From here to the wait its operands are read and its results are written.
  void emitStart(Operation *collective) {
    starts[collective] =
        emit<rank::StartOp>({{collective}, {}, {}}, rank::Category::Communication).getEvent();
    emitted.erase(collective);
  }

  LogicalResult visitWait(par::WaitOp wait) {
    for (auto [started, result] : llvm::zip(wait.getStarted(), wait.getResults()))
      buffers[result] = buffers.lookup(started);
    builder.create<rank::WaitOp>(wait.getLoc(), starts.lookup(wait.getCollective()));
    emitted.insert(wait.getCollective());
    return success();
  }

  /// What a collective has brought, in another order of dimensions or without padding.
  static bool movesReceived(const Work &work) {
    return llvm::all_of(work.ops, [](Operation *op) { return isa<TransposeOp, SliceOp, PadOp>(op); }) &&
           llvm::all_of(work.ins, [](Value in) {
             Operation *producer = in.getDefiningOp();
             return producer && isa<CollectiveOpInterface, par::WaitOp>(producer);
           });
  }

  static bool isAttention(Operation *op) { return isa<par::AttentionOp, AttentionBackwardOp>(op); }

  /// ins: what the ops use from outside. outs: what others use of them.
  void collectOperands(Work &work) {
    llvm::SmallPtrSet<Operation *, 8> inside(work.ops.begin(), work.ops.end());
    for (Operation *op : work.ops) {
      for (Value operand : op->getOperands())
        if (!inside.contains(operand.getDefiningOp()) && !llvm::is_contained(work.ins, operand))
          work.ins.push_back(operand);
      for (Value result : op->getResults()) {
        bool escapes =
            llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); });
        // Library calls and collectives write all their results.
        if (escapes || !op->hasAttr(ParDialect::kKernelAttr) || (isAttention(op) && result.use_empty()))
          work.outs.push_back(result);
      }
    }
  }

  void fillRegion(Region &region, const Work &work) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&region);
    IRMapping mapping;
    for (Value in : work.ins)
      mapping.map(in, block->addArgument(in.getType(), in.getLoc()));
    for (Operation *op : work.ops) {
      Operation *clone = builder.clone(*op, mapping);
      clone->removeAttr(ParDialect::kKernelAttr);
      clone->removeAttr(ParDialect::kCauseAttr);
      clone->removeAttr(ParDialect::kStartedAttr);
    }
    SmallVector<Value> yields;
    for (Value out : work.outs)
      yields.push_back(mapping.lookup(out));
    builder.create<rank::YieldOp>(function.getLoc(), yields);
  }

  /// Results that overwrite an operand share its buffer; if anybody else needs the operand, a copy of it.
  LogicalResult visitCall(par::CallOp call) {
    func::FuncOp callee = functions.lookup(call.getCallee());
    SmallVector<Value> arguments, results;
    for (Value operand : call.getInputs())
      arguments.push_back(buffers.lookup(operand));
    for (auto [number, result] : llvm::enumerate(call.getOutputs())) {
      std::optional<unsigned> tied = overwrites.get(callee)[number];
      if (!tied) {
        results.push_back(chooseOut(result, {{call}, {}, {}}, rank::Category::Workspace));
      } else {
        if (!mayConsume(call.getInputs()[*tied], result)) {
          Value saved = chooseOut(result, {{call}, {}, {}}, rank::Category::Workspace);
          copy(call.getLoc(), call.getInputs()[*tied], arguments[*tied], saved);
          arguments[*tied] = saved;
        }
        results.push_back(arguments[*tied]);
      }
      buffers[result] = results.back();
    }
    Value frame = builder.create<rank::AllocOp>(call.getLoc(), bufferType(0, /*isPinned=*/false),
                                                rank::Category::Workspace);
    builder.create<rank::CallOp>(call.getLoc(), call.getCallee(), frame, arguments, results, call.getParts(),
                                 number(call.getInputs()), number(call.getOutputs()));
    emitted.insert(call);
    return success();
  }

  LogicalResult visitTransfer(TransferOp transfer) {
    Value target = chooseTarget(transfer);
    buffers[transfer.getResult()] = target;
    if (transfer->hasAttr(ParDialect::kStartedAttr)) {
      starts[transfer] = emitStart(transfer, target);
      return success(); // what it reads is read up to the wait
    }
    copy(transfer.getLoc(), transfer.getInput(), buffers.lookup(transfer.getInput()), target);
    emitted.insert(transfer);
    return success();
  }

  /// The variable that the result is bound to, if it may be written now; else a buffer in that memory.
  Value chooseTarget(TransferOp transfer) {
    Value result = settle(transfer.getResult());
    for (unsigned number : returns.lookup(result))
      if (!written.contains(number) && mayWrite(number, result, {{transfer}, {}, {}})) {
        written.insert(number);
        return outParameter(number);
      }
    return allocate(transfer.getLoc(), result, rank::Category::Workspace);
  }

  Value emitStart(TransferOp transfer, Value target) {
    Work work{{transfer}, {}, {}};
    collectOperands(work);
    auto start =
        builder.create<rank::StartOp>(transfer.getLoc(), rank::EventType::get(function.getContext()),
                                      ValueRange{buffers.lookup(transfer.getInput())}, ValueRange{target},
                                      ValueRange{}, number(work.ins), number(work.outs), nullptr, nullptr);
    fillRegion(start.getBody(), work);
    return start.getEvent();
  }

  /// The call is the only reader, and the buffer is this function's own or one that it may overwrite: an
  /// argument is given up only if the result that overwrites it is what this call makes of it.
  bool mayConsume(Value operand, Value result) {
    Value root = strip(operand);
    if (!operand.hasOneUse() || !root.hasOneUse())
      return false;
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument)
      return root == operand && !isReturned(root);
    for (unsigned number : overwriters.lookup(argument.getArgNumber()))
      if (derivesFrom(exit.getOperand(number), result))
        return true;
    return false;
  }

  bool isReturned(Value value) { return llvm::is_contained(value.getUsers(), exit); }

  /// What a sum over ranks, or its end, is made of.
  static Value findUnreduced(Value value) {
    if (auto wait = value.getDefiningOp<par::WaitOp>())
      return wait.getStarted()[cast<OpResult>(value).getResultNumber()];
    return findReduced(value);
  }

  /// `value` is `result`, a sum of it over ranks, or a call's result that overwrites it in turn.
  bool derivesFrom(Value value, Value result) {
    while (value != result) {
      if (Value before = findUnreduced(value)) {
        value = before;
        continue;
      }
      auto call = value.getDefiningOp<par::CallOp>();
      if (!call)
        return false;
      func::FuncOp callee = functions.lookup(call.getCallee());
      std::optional<unsigned> tied = overwrites.get(callee)[cast<OpResult>(value).getResultNumber()];
      if (!tied)
        return false;
      value = call.getInputs()[*tied];
    }
    return true;
  }

  func::FuncOp function;
  const FunctionsByName &functions;
  OverwrittenArguments &overwrites;
  const PinnedValues &pinned;
  OpBuilder builder;
  func::ReturnOp exit;
  rank::FuncOp lowered;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Value, int64_t> numbers;
  ArrayRef<std::optional<unsigned>> overwritten;
  llvm::DenseMap<unsigned, SmallVector<unsigned, 1>> overwriters; ///< argument → results that overwrite it
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> returns; ///< value, views stripped → results that it is
  llvm::DenseSet<unsigned> written;
  llvm::DenseSet<Operation *> emitted;       ///< ops that run before what is lowered next; views are none
  llvm::DenseMap<Operation *, Value> starts; ///< collectives that were started, and their events
  llvm::DenseSet<Value> taken;               ///< values in whose buffers others lie
  llvm::DenseMap<int64_t, SmallVector<Operation *>> members; ///< of a kernel, in order
};
} // namespace

LogicalResult par::lowerFunction(func::FuncOp function, const FunctionsByName &functions,
                                 OverwrittenArguments &overwritten, const PinnedValues &pinned) {
  return FunctionLowering(function, functions, overwritten, pinned).run();
}
