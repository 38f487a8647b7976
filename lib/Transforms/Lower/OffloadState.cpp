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
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto variable : getOperation().getOps<VariableOp>())
      if (variable.getRole() == Role::Moment || variable.getRole() == Role::Master)
        variable.setSpaceAttr(MemorySpaceAttr::get(&getContext(), MemorySpace::Host));
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto isOnHost = [&](FlatSymbolRefAttr bind) {
        auto variable = bind ? symbols.lookup<VariableOp>(bind.getValue()) : VariableOp();
        return variable && variable.getSpace() == MemorySpace::Host;
      };
      for (BlockArgument argument : function.getArguments())
        if (isOnHost(
                function.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), ParDialect::kBindAttr)))
          bring(argument);
      for (unsigned result = 0; result < function.getNumResults(); ++result)
        if (isOnHost(function.getResultAttrOfType<FlatSymbolRefAttr>(result, ParDialect::kBindAttr)))
          sendBack(function, result);
    }
  }

private:
  static Value transfer(OpBuilder &builder, Value value, MemorySpace space) {
    return builder.create<TransferOp>(value.getLoc(), value.getType(), value,
                                      MemorySpaceAttr::get(builder.getContext(), space));
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
};
} // namespace
