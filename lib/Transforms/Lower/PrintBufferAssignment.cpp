//===- PrintBufferAssignment.cpp - shows where values lie -----------------------------------------------===//
#include "BufferAssignment.h"
#include "mlir/IR/AsmState.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_PRINTBUFFERASSIGNMENT
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

namespace {
struct PrintBufferAssignment : par::impl::PrintBufferAssignmentBase<PrintBufferAssignment> {
  void runOnOperation() override {
    FunctionsByName functions = nameFunctions(getOperation());
    OverwrittenArguments overwrites(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        show(function, assignBuffers(function, functions, overwrites));
    markAllAnalysesPreserved();
  }

  static void show(func::FuncOp function, const BufferAssignment &assignment) {
    AsmState state(function);
    auto print = [&](Value value) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      value.printAsOperand(stream, state);
      return text;
    };
    // By Assignment::Kind.
    const char *texts[] = {"argument", "fresh", "view of ", "reuses ", "adds into ", "writes result "};
    function.walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (auto found = assignment.values.find(value); found != assignment.values.end()) {
          auto [kind, of, result] = found->second;
          bool isWritten = kind == Assignment::Writes;
          op->emitRemark() << print(value) << ": " << texts[kind]
                           << (of          ? print(of)
                               : isWritten ? std::to_string(result)
                                           : "");
        }
    });
  }
};
} // namespace
