//===- Passes.h - from a forward graph to forward, backward and update ------------------------*- C++ -*-===//
#ifndef PAR_TRANSFORMS_DIFFERENTIATE_PASSES_H
#define PAR_TRANSFORMS_DIFFERENTIATE_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

#define GEN_PASS_DECL
#include "par/Transforms/Differentiate/Passes.h.inc"

/// The element type of accumulators or moments by name, f32 or bf16; null for any other.
Type parseStateType(MLIRContext *context, StringRef name);

/// The phase as par-compile and `par-opt -par-differentiate-pipeline` run it.
struct DifferentiatePipelineOptions : public PassPipelineOptions<DifferentiatePipelineOptions> {
  Option<std::string> recompute{*this, "recompute", llvm::cl::desc("none, selective, full or auto"),
                                llvm::cl::init("none")};
  ListOption<int64_t> recomputeLimit{
      *this, "recompute-limit",
      llvm::cl::desc("with recompute=auto: bytes saved per micro-batch and rank, of all stages or of each")};
  Option<bool> split{*this, "split", llvm::cl::desc("also write backward_input and backward_weight"),
                     llvm::cl::init(false)};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc("adamw or sgd"), llvm::cl::init("adamw")};
  Option<std::string> gradType{*this, "grad-type",
                               llvm::cl::desc("type of accumulated gradients: f32 or bf16"),
                               llvm::cl::init("f32")};
  Option<std::string> momentType{*this, "moment-type", llvm::cl::desc("type of moments: f32 or bf16"),
                                 llvm::cl::init("f32")};
  ListOption<std::string> decayOn{*this, "decay-on",
                                  llvm::cl::desc("names of the parameters with weight decay; none: by rank")};
  Option<bool> evaluation{*this, "evaluation", llvm::cl::desc("also write eval: the loss without dropout"),
                          llvm::cl::init(true)};
  Option<bool> holdGathered{*this, "hold-gathered",
                            llvm::cl::desc("gather parameters that are stored in parts once per step"),
                            llvm::cl::init(false)};
  Option<bool> explain{*this, "explain", llvm::cl::desc("emit a remark per saved value"),
                       llvm::cl::init(false)};
};

/// From docs/IR.md section 2 (or 1) to section 3.
void buildDifferentiatePipeline(OpPassManager &manager, const DifferentiatePipelineOptions &options);

/// Registers `par-differentiate-pipeline`.
void registerDifferentiatePipeline();

#define GEN_PASS_REGISTRATION
#include "par/Transforms/Differentiate/Passes.h.inc"

} // namespace mlir::par

#endif // PAR_TRANSFORMS_DIFFERENTIATE_PASSES_H
