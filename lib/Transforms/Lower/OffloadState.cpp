//===- OffloadState.cpp - optimizer state in host memory ------------------------------------------------===//
#include "par/Dialect/Par/IR/Par.h"
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
        auto variable = bind ? symbols.lookup<VariableOp>(bind.getValue()) : VariableOp();
        return variable && variable.getSpace() == MemorySpace::Host;
      };
      for (BlockArgument argument : function.getArguments())
        if (isOnHost(
                function.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), ParDialect::kBindAttr)))
          arguments.push_back(argument);
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (isOnHost(function.getResultAttrOfType<FlatSymbolRefAttr>(result, ParDialect::kBindAttr)))
          results.push_back(result);
      if (updateOnHost)
        computeOnHost(function, arguments, results);
      else
        computeOnDevice(function, arguments, results);
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
    Operation *first = nullptr;
    for (Operation *user : argument.getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
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

  /// Ops that use state run on the host, and so do those that use what becomes state.
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
};
} // namespace
