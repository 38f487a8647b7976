//===- LowerFunction.cpp - one function on tensors as a function on buffers -----------------------------===//
#include "BufferAssignment.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Rank/IR/Structure.h"
#include "par/Target/LibraryCall.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Follows what `assignBuffers` has decided.
class FunctionLowering {
public:
  FunctionLowering(func::FuncOp function, const FunctionsByName &functions, OverwrittenArguments &overwrites,
                   const PinnedValues &pinned)
      : function(function), functions(functions), overwrites(overwrites), pinned(pinned), builder(function),
        exit(cast<func::ReturnOp>(function.front().getTerminator())), overwritten(overwrites.get(function)),
        assignment(assignBuffers(function, functions, overwrites)) {}

  LogicalResult run() {
    target = getTarget(function);
    if (!target)
      return failure();
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
    SmallVector<int64_t> arguments;
    for (std::optional<unsigned> argument : overwritten)
      arguments.push_back(argument ? static_cast<int64_t>(*argument) : -1);
    bool isNone = llvm::all_of(arguments, [](int64_t argument) { return argument < 0; });
    return isNone ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(arguments);
  }

  //===--------------------------------------------------------------------===//
  // Numbers of values
  //===--------------------------------------------------------------------===//

  /// What lies in memory for `value`: views have the number of what they view, and so does what is only
  /// moved or waited for.
  int64_t number(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (getOpClass(op) == OpClass::View || isa<TransferOp>(op))
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

  /// The buffer of a value that is computed next.
  Value place(Value value, rank::Category category) {
    Assignment assigned = assignment.values.lookup(value);
    bool isWritten = assigned.kind == Assignment::Writes;
    return buffers[value] = assigned.of ? buffers.lookup(assigned.of)
                            : isWritten ? outParameter(assigned.result)
                                        : allocate(value.getLoc(), value, category);
  }

  /// True if some result, which is not the argument itself, is written over the argument that `buffer` is.
  bool isGivenUp(Value buffer) {
    auto argument = dyn_cast<BlockArgument>(buffer);
    for (auto [result, over] : llvm::enumerate(overwritten))
      if (argument && over == argument.getArgNumber() && buffers.lookup(exit.getOperand(result)) != buffer)
        return true;
    return false;
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
    if (auto work = assignment.works.find(op); work != assignment.works.end())
      return visit(work->second);
    if (auto call = dyn_cast<par::CallOp>(op)) {
      visitCall(call);
      return success();
    }
    if (op->hasAttr(ParDialect::kKernelAttr))
      return success(); // a kernel runs at its last member
    for (Value view : op->getResults())
      place(view, rank::Category::Workspace);
    if (auto wait = dyn_cast<par::WaitOp>(op))
      builder.create<rank::WaitOp>(wait.getLoc(), starts.lookup(wait.getCollective()));
    return success();
  }

  LogicalResult visit(const Work &work) {
    Operation *op = work.ops.back();
    auto transfer = dyn_cast<TransferOp>(op);
    KernelKind kind = getKind(work);
    if (op->hasAttr(ParDialect::kStartedAttr)) // from here to the wait operands are read and results written
      starts[op] =
          emit<rank::StartOp>(work, transfer ? rank::Category::Workspace : rank::Category::Communication)
              .getEvent();
    else if (transfer)
      copy(transfer.getLoc(), transfer.getInput(), buffers.lookup(transfer.getInput()),
           place(transfer.getResult(), rank::Category::Workspace));
    else if (kind == KernelKind::Gemm && !isGenerated(work))
      emitProducts(work);
    else if (kind == KernelKind::Library)
      return emitLibrary(work);
    else if (kind == KernelKind::Collective)
      emit<rank::CollectiveOp>(work, rank::Category::Communication);
    else if (op->hasAttr(ParDialect::kKernelAttr) || isGenerated(work))
      addWorkspace(emit<rank::KernelOp>(work, rank::Category::Workspace));
    else
      return op->emitOpError(
          "par-to-rank: the op belongs to no kernel; par-form-kernels should have grouped it");
    return success();
  }

  /// Sums of everything (norms of gradients) are products of a row and a column of millions: a processor's
  /// are quick at that, a GPU's leave it to one block. And no library of a GPU promises to write matrices of
  /// which each begins before the one before it ends.
  bool isGenerated(const Work &work) const {
    auto isNotForLibraries = [](Operation *op) {
      auto einsum = dyn_cast<EinsumOp>(op);
      std::optional<GemmShape> gemm = einsum ? matchGemm(einsum) : std::nullopt;
      return einsum && (einsum.getType().getRank() == 0 || (gemm && gemm->interleavesC()));
    };
    return target->hasDeviceProgram && llvm::any_of(work.ops, isNotForLibraries);
  }

  /// A library's work is there with what it is added to, or reads and writes parts of.
  static KernelKind getKind(const Work &work) {
    for (Operation *op : work.ops)
      if (auto kernel = dyn_cast<KernelOpInterface>(op))
        if (KernelKind kind = kernel.getKernelKind();
            kind == KernelKind::Gemm || kind == KernelKind::Library || kind == KernelKind::Collective)
          return kind;
    return KernelKind::None;
  }

  void emitProducts(const Work &work) {
    auto gemm = emit<rank::GemmOp>(work, rank::Category::Workspace, ArrayAttr());
    gemm.setProductsAttr(rank::describeProducts(gemm.getBody().front()));
    addWorkspace(gemm);
  }

  LogicalResult emitLibrary(const Work &work) {
    auto content = cast<LibraryOpInterface>(*llvm::find_if(work.ops, llvm::IsaPred<LibraryOpInterface>));
    Buffers given = getBuffers(work, rank::Category::Workspace);
    auto library = rank::createLibraryWork(builder, work.ops.front()->getLoc(), content.getWorkName(),
                                           given.ins, given.outs, number(work.ins), number(work.outs));
    complete(library, work);
    Attribute description = library.describe();
    if (!description)
      return content->emitOpError("par-to-rank: no call of a library computes it, expected ")
             << library.getRequirement();
    library.setDescription(description);
    if (!getLibraryCall(target->kind, library))
      return failure();
    addWorkspace(library);
    return success();
  }

  void addWorkspace(rank::WorkOpInterface op) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    bool isPinned = cast<rank::BufferType>(op.getOuts().front().getType()).getSpace() == rank::Space::Pinned;
    for (int64_t bytes : target->getWorkspaceBytes(op))
      op.getScratchMutable().append(
          builder.create<rank::AllocOp>(op.getLoc(), bufferType(bytes, isPinned), rank::Category::Workspace)
              .getBuffer());
  }

  /// The buffers that an op of work reads and writes.
  struct Buffers {
    SmallVector<Value> ins, outs;
  };

  Buffers getBuffers(const Work &work, rank::Category category) {
    if (movesReceived(work))
      category = rank::Category::Communication;
    Buffers given;
    for (Value in : work.ins)
      given.ins.push_back(buffers.lookup(in));
    for (Value out : work.outs)
      given.outs.push_back(place(out, category));
    return given;
  }

  void complete(rank::WorkOpInterface op, const Work &work) {
    if (Attribute cause = work.ops.front()->getAttr(ParDialect::kCauseAttr))
      op->setAttr(ParDialect::kCauseAttr, cause);
    fillRegion(op.getBody(), work);
  }

  template <typename Op, typename... Structure>
  Op emit(const Work &work, rank::Category category, Structure... structure) {
    Buffers given = getBuffers(work, category);
    SmallVector<Type> results;
    if (std::is_same_v<Op, rank::StartOp>)
      results.push_back(rank::EventType::get(function.getContext()));
    auto op = builder.create<Op>(work.ops.front()->getLoc(), results, given.ins, given.outs, ValueRange(),
                                 number(work.ins), number(work.outs), nullptr, nullptr, structure...);
    complete(op, work);
    return op;
  }

  /// What a collective has brought, in another order of dimensions or without padding.
  static bool movesReceived(const Work &work) {
    auto isMove = [](Operation *op) {
      OpClass opClass = getOpClass(op);
      return opClass == OpClass::Permutes || opClass == OpClass::Slices || opClass == OpClass::Pads;
    };
    return llvm::all_of(work.ops, isMove) && llvm::all_of(work.ins, [](Value in) {
             Operation *producer = in.getDefiningOp();
             return producer && isa<CollectiveOpInterface, par::WaitOp>(producer);
           });
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

  /// A result that overwrites an operand, but may not lie where that does, gets a copy of it to begin with.
  void visitCall(par::CallOp call) {
    ArrayRef<std::optional<unsigned>> tied = overwrites.get(functions.lookup(call.getCallee()));
    SmallVector<Value> arguments, results;
    for (Value operand : call.getInputs())
      arguments.push_back(buffers.lookup(operand));
    for (auto [number, result] : llvm::enumerate(call.getOutputs())) {
      results.push_back(place(result, rank::Category::Workspace));
      if (!tied[number] || arguments[*tied[number]] == results.back())
        continue;
      copy(call.getLoc(), call.getInputs()[*tied[number]], arguments[*tied[number]], results.back());
      arguments[*tied[number]] = results.back();
    }
    Value frame = builder.create<rank::AllocOp>(call.getLoc(), bufferType(0, /*isPinned=*/false),
                                                rank::Category::Workspace);
    builder.create<rank::CallOp>(call.getLoc(), call.getCallee(), frame, arguments, results, call.getParts(),
                                 number(call.getInputs()), number(call.getOutputs()));
  }

  func::FuncOp function;
  const FunctionsByName &functions;
  OverwrittenArguments &overwrites;
  const PinnedValues &pinned;
  const Target *target = nullptr;
  OpBuilder builder;
  func::ReturnOp exit;
  rank::FuncOp lowered;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Value, int64_t> numbers;
  ArrayRef<std::optional<unsigned>> overwritten;
  BufferAssignment assignment;
  llvm::DenseMap<Operation *, Value> starts; ///< what was started, and its events
};
} // namespace

LogicalResult par::lowerFunction(func::FuncOp function, const FunctionsByName &functions,
                                 OverwrittenArguments &overwritten, const PinnedValues &pinned) {
  return FunctionLowering(function, functions, overwritten, pinned).run();
}
