//===- Passes.td - emit: from rank programs to LLVM ---------------------------------------------------------===//
#ifndef PAR_CONVERSION_PASSES
#define PAR_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def RankToLLVM : Pass<"rank-to-llvm", "::mlir::ModuleOp"> {
  let summary = "rank programs as LLVM functions";
  let description = [{
    **Before:** a planned rank module. **After:** LLVM dialect only: a function per `rank.func` (context, frame,
    buffers), one per distinct kernel, and `void par_schedule_<name>(par_context *)` per schedule. GEMM, attention and
    collectives are calls of the runtime's entry points (runtime/include/par/EntryPoints.def).

    Where the target has a device's program, its kernels, attention among them, are the nested module `device`, and
    kernels and GEMM are called by their numbers in its attributes `rank.kernels` and `rank.products`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::func::FuncDialect", "::mlir::vector::VectorDialect"];
}

def SetTarget : Pass<"par-set-target", "::mlir::ModuleOp"> {
  let summary = "gives the module's plan its target and chip";
  let description = [{
    **Before:** a module of any phase, or of none. **After:** the plan that it has, or a plan of defaults, is for
    `target` and `chip`, so that the passes behind it ask that target for its limits and kernels. No chip is the
    target's first. par-compile sets both with the plan; the pass is for text.

    `target=cuda chip=sm_80` → `par.plan = #par.plan<…, target = "cuda", chip = "sm_80">`
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "cpu or cuda">,
                 Option<"chip", "chip", "std::string", "\"\"", "one of the target's; empty: its first">];
}

#endif // PAR_CONVERSION_PASSES
