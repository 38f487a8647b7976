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

static std::string print(Value value, AsmState &state) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.printAsOperand(stream, state);
  return text;
}

static StringRef getText(Assignment::Kind kind) {
  switch (kind) {
  case Assignment::Argument:
    return "argument";
  case Assignment::Fresh:
    return "fresh";
  case Assignment::View:
    return "view of ";
  case Assignment::Reuses:
    return "reuses ";
  case Assignment::AddsInto:
    return "adds into ";
  case Assignment::Writes:
    return "writes result ";
  }
  llvm_unreachable("no other kind");
}

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
    function.walk([&](Operation *op) {
      for (Value value : op->getResults()) {
        auto found = assignment.values.find(value);
        if (found == assignment.values.end())
          continue;
        const Assignment &assigned = found->second;
        InFlightDiagnostic remark = op->emitRemark() << print(value, state) << ": " << getText(assigned.kind);
        if (assigned.of)
          remark << print(assigned.of, state);
        else if (assigned.kind == Assignment::Writes)
          remark << assigned.result;
      }
    });
  }
};
} // namespace
