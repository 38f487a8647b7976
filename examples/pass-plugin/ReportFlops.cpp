//===- ReportFlops.cpp - a pass of one's own: where the arithmetic of a graph is ------------------------===//
// For every function one remark: how much it computes, and how much of that in matrix products. Numbers come
// from the ops themselves (CostOpInterface), so the pass knows no op but the one that it singles out.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "par/Dialect/Par/IR/Par.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace {
struct ReportFlops : PassWrapper<ReportFlops, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportFlops)

  ReportFlops() = default;
  ReportFlops(const ReportFlops &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "report-flops"; }
  StringRef getDescription() const override { return "remarks on every function's arithmetic"; }

  Option<double> least{*this, "least", llvm::cl::desc("Say nothing of functions with fewer operations"),
                       llvm::cl::init(0)};

  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      double all = 0, products = 0;
      function.walk([&](par::CostOpInterface op) {
        double flops = op.getFlops();
        all += flops;
        products += isa<par::EinsumOp>(op) ? flops : 0;
      });
      if (all > 0 && all >= least)
        // At the function's place, without its text.
        emitRemark(function.getLoc())
            << llvm::formatv("{0}: {1} operations, {2:P1} of them in matrix products", function.getName(),
                             static_cast<int64_t>(all), products / all)
                   .str();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "report-flops", "0.1", [] { PassRegistration<ReportFlops>(); }};
}
