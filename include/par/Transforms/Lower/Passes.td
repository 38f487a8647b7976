//===- Passes.td - lower: from local tensors to buffers of one arena ----------------------------------------===//
#ifndef PAR_TRANSFORMS_LOWER_PASSES
#define PAR_TRANSFORMS_LOWER_PASSES

include "mlir/Pass/PassBase.td"

def WidenSums : Pass<"par-widen-sums", "::mlir::func::FuncOp"> {
  let summary = "sums that are added up in memory are added up in f32";
  let description = [{
    Kernels add up sums over leading dimensions (of biases, norm weights and tables) row by row where the result lies. **Before:** such a sum may be bf16 or f16, which
    would be rounded at every row. **After:** it is f32, and rounded by an `arith.truncf` behind it. The meaning is the same: a sum is rounded once.

    ```mlir
    // before
    %0 = par.reduce sum %x dims [0] : tensor<8x64xbf16> -> tensor<64xbf16>
    // after
    %0 = par.reduce sum %x dims [0] : tensor<8x64xbf16> -> tensor<64xf32>
    %1 = arith.truncf %0 : tensor<64xf32> to tensor<64xbf16>
    ```
  }];
}

def FormKernels : Pass<"par-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "groups ops into kernels";
  let description = [{
    **Before:** a local function (or one of a single rank). **After:** every op that a kernel computes has `par.kernel = n`; ops with one number run as one kernel at the place of the
    last of them. Constants, positions, broadcasts and scalar arithmetic are cloned into every kernel that uses them; elementwise ops of one shape join the kernel of
    their operands unless somebody else needs those before.
  }];
}

def ToRank : Pass<"par-to-rank", "::mlir::ModuleOp"> {
  let summary = "functions on tensors become functions on buffers, chunk functions a schedule";
  let description = [{
    **Before:** grouped local functions. **After:** a `rank.func` per function with results as out-parameters, and `rank.schedule @train`: for every micro-batch forward and backward,
    then reduce, norm, update; also `@eval` (every micro-batch) and `@logits` (one) where there are functions of those phases. A result that overwrites an argument (`par.alias`, one variable) is computed in place where the last reader of the argument allows it, else
    in a temporary that is copied.
  }];
  let options = [Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches of a step">];
  let dependentDialects = ["::mlir::par::rank::RankDialect"];
}

def PlanMemory : Pass<"rank-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every buffer its offset";
  let description = [{
    **Before:** `rank.alloc` and `rank.slot` without offsets. **After:** offsets within frames and arena such that no two buffers that are live together overlap; callees' frames are buffers of the
    caller, live during the call. All schedules share one arena: the variables, inputs and constants of `@train` lie at its bottom, and the other schedules find them there;
    what else they need lies where `@train` keeps residuals and frames, which hold nothing between steps. `rank.schedule` carries `peak_bytes` (highest end of any buffer), `arena_bytes` (each category's maximum) and `lower_bound` (the most bytes live at
    once).
  }];
}

#endif // PAR_TRANSFORMS_LOWER_PASSES
