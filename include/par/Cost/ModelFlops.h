//===- ModelFlops.h - how much a model computes -----------------------------------------------*- C++ -*-===//
#ifndef PAR_COST_MODELFLOPS_H
#define PAR_COST_MODELFLOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// How much a model computes in a step of a batch: products and attention of forward and backward passes,
/// counting what is seen (the causal half of attention), once and on one device (Chowdhery et al., "PaLM",
/// 2022, appendix B). Of a module as it was imported. `frozen`: patterns of the parameters that are not
/// trained, of which there are no gradients, nor of what depends on them alone.
double countModelFlops(ModuleOp module, double batch, llvm::ArrayRef<std::string> frozen = {});

} // namespace mlir::par

#endif // PAR_COST_MODELFLOPS_H
