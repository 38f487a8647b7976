//===- BufferAssignment.h - where the values of a function lie --------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_BUFFERASSIGNMENT_H
#define PAR_LIB_TRANSFORMS_LOWER_BUFFERASSIGNMENT_H

#include "ToRank.h"

namespace mlir::par {

/// What one rank.kernel, gemm, … computes: ops that run as one.
struct Work {
  SmallVector<Operation *> ops;
  SmallVector<Value> ins;  ///< what the ops use from outside
  SmallVector<Value> outs; ///< what others use of them
};

/// Where one value lies.
struct Assignment {
  enum Kind {
    Argument, ///< where the caller has it
    Fresh,    ///< a buffer of its own
    View,     ///< in the buffer of what it is made of, moved or not
    Reuses,   ///< written over what its work reads, which nobody needs any more
    AddsInto, ///< added to a sum where that lies
    Writes,   ///< straight into a result of the function
  };
  Kind kind = Fresh;
  Value of;            ///< in whose buffer it lies: of views, Reuses and AddsInto
  unsigned result = 0; ///< of Writes
};

/// The buffers of a function on tensors, decided before any of it is lowered.
struct BufferAssignment {
  llvm::DenseMap<Value, Assignment> values; ///< but those inside of a work
  llvm::DenseMap<Operation *, Work> works;  ///< by the last of their ops, at which they run
};

BufferAssignment assignBuffers(func::FuncOp function, const FunctionsByName &functions,
                               OverwrittenArguments &overwrites);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_BUFFERASSIGNMENT_H
