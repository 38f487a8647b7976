//===- InterpretGraph.h - the graph that par-interpret evaluates ------------------------------*- C++ -*-===//
#ifndef PAR_LIB_INTERPRETER_INTERPRETGRAPH_H
#define PAR_LIB_INTERPRETER_INTERPRETGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "par/Interpreter/InterpretModel.h"

namespace mlir::par {

/// A module in the state that the options ask for, and the sizes of its inputs.
struct InterpretGraph {
  OwningOpRef<ModuleOp> module;
  int64_t batch = 0;          ///< of one micro-batch over all data-parallel ranks
  int64_t seq = 0, vocab = 0; ///< 0: without tokens and targets; vocab also where no op depends on it
};

/// Fills in defaults and refuses combinations that mean nothing, with one error.
LogicalResult completeInterpretOptions(MLIRContext &context, InterpretOptions &options);

/// Reads or imports the graph, then annotates, differentiates and partitions it as far as the options ask and
/// it is not yet. One error where that is impossible.
FailureOr<InterpretGraph> buildInterpretGraph(MLIRContext &context, const InterpretOptions &options);

/// Bytes that its evaluation takes at least, on all ranks together.
double estimateMemory(ModuleOp module);

} // namespace mlir::par

#endif // PAR_LIB_INTERPRETER_INTERPRETGRAPH_H
