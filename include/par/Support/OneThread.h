//===- OneThread.h - a context of one thread --------------------------------------------------*- C++ -*-===//
#ifndef PAR_SUPPORT_ONETHREAD_H
#define PAR_SUPPORT_ONETHREAD_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::par {

/// A context that one thread uses. The constructor's flag alone leaves the locks, and the caches of threads,
/// that every attribute and type is looked up through (MLIR 19).
class OneThreadContext : public MLIRContext {
public:
  explicit OneThreadContext(const DialectRegistry &registry = DialectRegistry())
      : MLIRContext(registry, Threading::DISABLED) {
    disableMultithreading();
  }
};

} // namespace mlir::par

#endif // PAR_SUPPORT_ONETHREAD_H
