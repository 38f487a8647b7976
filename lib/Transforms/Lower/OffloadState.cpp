//===- OffloadState.cpp - optimizer state in host memory ------------------------------------------------===//
#include "par/Dialect/Par/IR/Places.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_OFFLOADSTATE
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct OffloadState : public par::impl::OffloadStateBase<OffloadState> {
  using OffloadStateBase::OffloadStateBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto variable : getOperation().getOps<VariableOp>())
      if (variable.getRole() == Role::Moment || variable.getRole() == Role::Master)
        variable.setSpaceAttr(MemorySpaceAttr::get(&getContext(), MemorySpace::Host));
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<BlockArgument> arguments;
      SmallVector<unsigned> results;
      auto isOnHost = [&](FlatSymbolRefAttr bind) {
        auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : VariableOp();
        return variable && variable.getSpace() == MemorySpace::Host;
      };
      for (BlockArgument argument : function.getArguments())
        if (isOnHost(getVariable(argument)))
          arguments.push_back(argument);
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (isOnHost(getResultVariable(function, result)))
          results.push_back(result);
      if (updateOnHost)
        computeOnHost(function, arguments, results);
      else
        computeOnDevice(function, arguments, results);
      // Transfers that a graph came with stay where they are.
      if (overlap && !(arguments.empty() && results.empty()))
        overlapTransfers(function);
    }
  }

private:
  static Value transfer(OpBuilder &builder, Value value, MemorySpace space) {
    return builder.create<TransferOp>(value.getLoc(), value.getType(), value,
                                      MemorySpaceAttr::get(builder.getContext(), space));
  }

  //===--------------------------------------------------------------------===//
  // The update on the device
  //===--------------------------------------------------------------------===//

  static void computeOnDevice(func::FuncOp function, ArrayRef<BlockArgument> arguments,
                              ArrayRef<unsigned> results) {
    for (BlockArgument argument : arguments)
      bring(argument);
    for (unsigned result : results)
      sendBack(function, result);
  }

  /// Just before it is used: no more than one layer's state is on the device then.
  static void bring(BlockArgument argument) {
    Operation *first = firstUser(argument);
    if (!first)
      return;
    OpBuilder builder(first);
    Value copy = transfer(builder, argument, MemorySpace::Device);
    argument.replaceAllUsesExcept(copy, copy.getDefiningOp());
  }

  /// As soon as it is there.
  static void sendBack(func::FuncOp function, unsigned result) {
    Operation *exit = function.front().getTerminator();
    Value value = exit->getOperand(result);
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    exit->setOperand(result, transfer(builder, value, MemorySpace::Host));
  }

  //===--------------------------------------------------------------------===//
  // The update on the host
  //===--------------------------------------------------------------------===//

  /// Ops that use state run on the host, and so do those that use what becomes state. What becomes state but
  /// is made of nothing that is, say gathered from parts, is made on the device and sent to the host.
  static void computeOnHost(func::FuncOp function, ArrayRef<BlockArgument> arguments,
                            ArrayRef<unsigned> results) {
    if (arguments.empty())
      return;
    Operation *exit = function.front().getTerminator();
    llvm::SmallPtrSet<Value, 16> state(arguments.begin(), arguments.end());
    for (unsigned result : results)
      state.insert(exit->getOperand(result));
    llvm::DenseMap<Value, Value> copies; // on the host, of values on the device
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator()))
      if (llvm::any_of(op.getOperands(), [&](Value operand) { return state.contains(operand); }))
        moveToHost(op, state, copies);
      else
        sendState(op, state);
  }

  /// Results of an op on the device that become state.
  static void sendState(Operation &op, llvm::SmallPtrSetImpl<Value> &state) {
    for (Value result : op.getResults()) {
      if (!state.erase(result))
        continue;
      OpBuilder builder(op.getContext());
      builder.setInsertionPointAfter(&op);
      Value copy = transfer(builder, result, MemorySpace::Host);
      result.replaceAllUsesExcept(copy, copy.getDefiningOp());
      state.insert(copy);
    }
  }

  static void moveToHost(Operation &op, const llvm::SmallPtrSetImpl<Value> &state,
                         llvm::DenseMap<Value, Value> &copies) {
    OpBuilder builder(&op);
    for (OpOperand &operand : op.getOpOperands()) {
      if (state.contains(operand.get()))
        continue;
      Value &copy = copies[operand.get()];
      if (!copy)
        copy = transfer(builder, operand.get(), MemorySpace::Host);
      operand.set(copy);
    }
    builder.setInsertionPointAfter(&op);
    for (Value result : op.getResults())
      if (!state.contains(result) && !result.use_empty()) {
        Value there = transfer(builder, result, MemorySpace::Device);
        result.replaceAllUsesExcept(there, there.getDefiningOp());
      }
  }

  //===--------------------------------------------------------------------===//
  // Overlap
  //===--------------------------------------------------------------------===//

  /// What the transfers are for, in the order of the block.
  struct Work {
    SmallVector<Operation *> ops;
    llvm::DenseMap<Operation *, size_t> places;

    void add(Operation *op) {
      if (op && places.try_emplace(op, ops.size()).second)
        ops.push_back(op);
    }
    Operation *at(size_t place) const { return place < ops.size() ? ops[place] : nullptr; }
  };

  static bool isWork(Operation *op) { return op && !isa<TransferOp, func::ReturnOp>(op); }

  static Operation *firstUser(Value value) {
    Operation *first = nullptr;
    for (Operation *user : value.getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    return first;
  }

  /// What an op needs comes while the one before it runs, and what it has made leaves while the one behind it
  /// does: state of two of them is on its way at most.
  void overlapTransfers(func::FuncOp function) {
    SmallVector<TransferOp> transfers(function.getOps<TransferOp>());
    llvm::DenseMap<Operation *, bool> isUsed;
    for (TransferOp transfer : transfers)
      for (Operation *op : {transfer.getInput().getDefiningOp(), firstUser(transfer.getResult())})
        if (isWork(op))
          isUsed[op] = true;
    Work work;
    for (Operation &op : function.front())
      if (isUsed.lookup(&op))
        work.add(&op);
    // All are decided before the first one moves: asking a block that changes for its order counts it anew.
    SmallVector<Flight> flights;
    for (TransferOp transfer : transfers)
      flights.push_back(transfer.getSpace() == (updateOnHost ? MemorySpace::Host : MemorySpace::Device)
                            ? startEarly(transfer, work)
                            : endLate(transfer, work));
    for (auto [transfer, flight] : llvm::zip(transfers, flights))
      overlapTransfer(transfer, flight);
  }

  /// Where a transfer starts and ends.
  struct Flight {
    Operation *startsBefore; ///< null: where it is
    Operation *endsBehind;   ///< null: before its first user
    Operation *user;         ///< the first one
  };

  static void overlapTransfer(TransferOp transfer, const Flight &flight) {
    if (flight.startsBefore)
      transfer->moveBefore(flight.startsBefore);
    OpBuilder builder(flight.endsBehind ? flight.endsBehind->getNextNode() : flight.user);
    transfer->setAttr(ParDialect::kStartedAttr, builder.getUnitAttr());
    auto wait = builder.create<WaitOp>(transfer.getLoc(), transfer->getResultTypes(), transfer->getResults());
    transfer.getResult().replaceAllUsesExcept(wait.getResult(0), wait);
  }

  /// Before the work ahead of what it is for, if what is sent exists there.
  static Flight startEarly(TransferOp transfer, const Work &work) {
    Operation *user = firstUser(transfer.getResult()), *maker = transfer.getInput().getDefiningOp();
    size_t place = work.places.lookup(user);
    Operation *ahead = place ? work.ops[place - 1] : nullptr;
    bool isEarlier = ahead && ahead->isBeforeInBlock(transfer) && (!maker || maker->isBeforeInBlock(ahead));
    return {isEarlier ? ahead : nullptr, nullptr, user};
  }

  /// Behind the work that follows what has made it, unless it is needed earlier.
  static Flight endLate(TransferOp transfer, const Work &work) {
    Operation *user = firstUser(transfer.getResult());
    auto found = work.places.find(transfer.getInput().getDefiningOp());
    Operation *next = found == work.places.end() ? nullptr : work.at(found->second + 1);
    return {nullptr, next && next->isBeforeInBlock(user) ? next : nullptr, user};
  }
};
} // namespace
