//===- Register.h - the dialects and passes that par's tools use ------------------------------*- C++ -*-===//
#ifndef PAR_REGISTER_REGISTER_H
#define PAR_REGISTER_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::par {

/// par's dialects, those it builds on, and the interfaces attached to them.
void registerDialects(DialectRegistry &registry);
/// par's passes and pipelines, and the few upstream passes that help in tests (canonicalize, cse,
/// symbol-dce).
void registerPasses();

} // namespace mlir::par

#endif // PAR_REGISTER_REGISTER_H
